package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"tercet/internal/cli/base"
	"tercet/internal/fsx"
	"tercet/internal/record"
	"tercet/internal/record/printed"
)

func newMan(s *base.Streams) *cobra.Command {
	var cmd *cobra.Command
	cmd = base.Command{
		Use:   "man FOLDER",
		Short: "Write the man pages into a folder",
		Long: `
Writes a man page for every command into FOLDER, and tercet-config.5 with all config
keys. FOLDER is created if needed. The command prints the file names. SOURCE_DATE_EPOCH
sets the date of the pages.`,
		Args:      cobra.ExactArgs(1),
		AnyKernel: true,
		Examples: []base.Example{
			{Why: "then read one: man man1/tercet-train.1", Line: "tercet man man1"},
		},
		Run: func(_ context.Context, args []string) error { return runMan(s, cmd.Root(), args[0]) },
	}.Build()
	cmd.ValidArgsFunction = folders
	return cmd
}

func runMan(s *base.Streams, root *cobra.Command, folder string) error {
	date, err := manDate(os.Getenv("SOURCE_DATE_EPOCH"))
	if err != nil {
		return err
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return fmt.Errorf("the folder for man pages: %w", err)
	}
	doc := printed.Man{Schema: record.ManSchema}
	write := func(name, text string) error {
		path := filepath.Join(folder, name)
		doc.Files = append(doc.Files, path)
		return fsx.WriteFile(path, []byte(text), 0o644)
	}
	if err := eachManPage(root, func(cmd *cobra.Command) error {
		return write(manName(cmd)+".1", commandPage(cmd, date))
	}); err != nil {
		return err
	}
	if err := write("tercet-config.5", configPage(date)); err != nil {
		return err
	}
	return s.Line(doc, "%s", strings.Join(doc.Files, "\n"))
}

// manDate is the date of the pages: epoch in seconds, or today where it is empty.
func manDate(epoch string) (time.Time, error) {
	if epoch == "" {
		return time.Now().UTC(), nil
	}
	seconds, err := strconv.ParseInt(epoch, 10, 64)
	if err != nil {
		return time.Time{}, base.Usagef("SOURCE_DATE_EPOCH is %q; give whole seconds since 1970", epoch)
	}
	return time.Unix(seconds, 0).UTC(), nil
}

// eachManPage calls f for every command that has a page, parents first.
func eachManPage(cmd *cobra.Command, f func(*cobra.Command) error) error {
	if err := f(cmd); err != nil {
		return err
	}
	for _, c := range cmd.Commands() {
		if !c.IsAvailableCommand() || c.Name() == "help" {
			continue
		}
		if err := eachManPage(c, f); err != nil {
			return err
		}
	}
	return nil
}

func manName(cmd *cobra.Command) string { return strings.ReplaceAll(cmd.CommandPath(), " ", "-") }
