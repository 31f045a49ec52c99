package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"tercet/internal/cli/base"
	"tercet/internal/record"
	"tercet/internal/record/printed"
)

func newVersion(s *base.Streams) *cobra.Command {
	return base.Command{
		Use:       "version",
		Short:     "Print version information",
		Long:      "Prints the version, its commit, the Go version, the platform and the kernel level in use.",
		AnyKernel: true,
		Examples: []base.Example{
			{Why: "for people", Line: "tercet version"},
			{Why: "for scripts", Line: "tercet version --json"},
		},
		Run: func(context.Context, []string) error { return runVersion(s) },
	}.Build()
}

// addVersionFlag makes --version of the root what the command version is, and
// returns whether it was given.
func addVersionFlag(root *cobra.Command) *bool {
	return root.Flags().Bool("version", false, "print version information")
}

func runVersion(s *base.Streams) error {
	b := base.BuildInfo()
	return s.Result(printed.Version{Schema: record.VersionSchema, Binary: b}, func(w io.Writer) error {
		commit := cmp.Or(b.Commit, "unknown")
		if b.Dirty {
			commit += " with changes"
		}
		_, err := fmt.Fprintf(w, "tercet %s\ncommit  %s\ngo      %s\nsystem  %s/%s\nkernel  %s\n", b.Version, commit, b.Go, b.OS, b.Arch, b.Kernel)
		return err
	})
}
