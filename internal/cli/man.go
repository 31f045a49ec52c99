package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sort"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
)

type manDocument struct {
	Schema string   `json:"schema"`
	Files  []string `json:"files"`
}

func newMan(s *Streams) *cobra.Command {
	var cmd *cobra.Command
	cmd = command{
		use:       "man FOLDER",
		short:     "Write the man pages into a folder",
		long:      "Write a man page for every command into FOLDER, which is made if it is not there,\nand print the files' names. SOURCE_DATE_EPOCH sets their date.",
		args:      cobra.ExactArgs(1),
		anyKernel: true,
		examples: []example{
			{why: "then read one: man man1/tercet-config.1", line: "tercet man man1"},
		},
		run: func(_ context.Context, args []string) error { return runMan(s, cmd.Root(), args[0]) },
	}.build()
	return cmd
}

func runMan(s *Streams, root *cobra.Command, folder string) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return fmt.Errorf("the folder for man pages: %w", err)
	}
	withExitStatus(root)
	header := &doc.GenManHeader{Title: "TERCET", Section: "1", Source: "tercet " + BuildInfo().Version, Manual: "Tercet"}
	if err := doc.GenManTree(root, header, folder); err != nil {
		return fmt.Errorf("man pages: %w", err)
	}
	files, err := filepath.Glob(filepath.Join(folder, "tercet*.1"))
	if err != nil {
		return err
	}
	sort.Strings(files)
	return s.Result(manDocument{"tercet.man/1", files}, func(w io.Writer) error {
		for _, f := range files {
			if _, err := fmt.Fprintln(w, f); err != nil {
				return err
			}
		}
		return nil
	})
}

// withExitStatus moves the exit status of every command into the text from
// which its page is made.
func withExitStatus(cmd *cobra.Command) {
	cmd.DisableAutoGenTag = true
	if text := cmd.Annotations[exitsKey]; text != "" {
		long := cmd.Long
		if long == "" {
			long = cmd.Short
		}
		cmd.Long = long + "\n\n# EXIT STATUS\n```\n" + text + "```\n"
	}
	for _, c := range cmd.Commands() {
		withExitStatus(c)
	}
}
