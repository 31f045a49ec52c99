package cli

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"tercet/internal/engine/kernel"
	"tercet/internal/record"
)

// version and commit are set by the linker (-X): make build takes them from git.
var version, commit = "", ""

// Build says what this binary is.
type Build struct {
	Version string `json:"version"`
	Commit  string `json:"commit,omitempty"`
	Dirty   bool   `json:"dirty,omitempty"` // built from a tree with changes
	Go      string `json:"go"`
	OS      string `json:"os"`
	Arch    string `json:"arch"`
	Kernel  string `json:"kernel"` // level in use
}

// BuildInfo describes the running binary.
func BuildInfo() Build {
	b := Build{Version: version, Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH, Kernel: kernel.Setting()}
	if info, ok := debug.ReadBuildInfo(); ok {
		if b.Version == "" {
			b.Version = info.Main.Version
		}
		for _, s := range info.Settings {
			switch s.Key {
			case "vcs.revision":
				b.Commit = s.Value
			case "vcs.modified":
				b.Dirty = s.Value == "true"
			}
		}
	}
	if b.Commit == "" { // Go stamps no commit in a linked work tree, for one
		b.Commit, b.Dirty = commit, strings.HasSuffix(version, "-dirty")
	}
	if b.Version == "" || b.Version == "(devel)" {
		b.Version = "unreleased"
	}
	return b
}

type versionDocument struct {
	Schema string `json:"schema"`
	Build
}

func newVersion(s *Streams) *cobra.Command {
	return command{
		use:       "version",
		short:     "Print version information",
		long:      "Show the version, the commit it was built from, the Go version, the platform and\nthe kernel level in use.",
		anyKernel: true,
		examples: []example{
			{why: "for people", line: "tercet version"},
			{why: "for scripts", line: "tercet version --json"},
		},
		run: func(context.Context, []string) error { return runVersion(s) },
	}.build()
}

// addVersionFlag makes --version of the root what the command version is, and
// returns whether it was given.
func addVersionFlag(root *cobra.Command) *bool {
	return root.Flags().Bool("version", false, "print version information")
}

func runVersion(s *Streams) error {
	b := BuildInfo()
	return s.Result(versionDocument{record.VersionSchema, b}, func(w io.Writer) error {
		commit := b.Commit
		if commit == "" {
			commit = "unknown"
		}
		if b.Dirty {
			commit += " with changes"
		}
		_, err := fmt.Fprintf(w, "tercet %s\ncommit  %s\ngo      %s\nsystem  %s/%s\nkernel  %s\n", b.Version, commit, b.Go, b.OS, b.Arch, b.Kernel)
		return err
	})
}
