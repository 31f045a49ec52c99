package base_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"tercet/internal/cli/base"
)

// Flags stand under their headings in the order of declaration, and those of another mode
// are found.
func TestFlagGroups(t *testing.T) {
	t.Parallel()
	cmd := &cobra.Command{Use: "x", Run: func(*cobra.Command, []string) {}}
	cmd.SetUsageTemplate(base.UsageTemplate)
	fs := cmd.Flags()
	fs.Int("zeal", 0, "first")
	fs.Int("age", 0, "second")
	base.Group(fs, "Input")
	fs.Int("near", 0, "of a and b")
	fs.Int("far", 0, "of b")
	fs.Bool("hidden", false, "")
	if err := fs.MarkHidden("hidden"); err != nil {
		t.Fatal(err)
	}
	base.Only(fs, []string{"a", "b"}, "near")
	base.Group(fs, "Mode b", "b")
	cmd.InitDefaultHelpFlag()

	var order []string
	for _, g := range base.FlagGroups(cmd) {
		order = append(order, g.Title+":")
		g.Flags.VisitAll(func(f *pflag.Flag) { order = append(order, f.Name) })
	}
	if want := "Input: zeal age Mode b: near far hidden Flags of all commands: help"; strings.Join(order, " ") != want {
		t.Errorf("got %q, want %q", strings.Join(order, " "), want)
	}
	if help := cmd.UsageString(); !strings.Contains(help, "\nMode b:\n      --near int   of a and b\n      --far int    of b\n\nFlags of all") {
		t.Errorf("help:\n%s", help)
	}

	if err := fs.Parse([]string{"--far", "1", "--near", "2", "--age", "3"}); err != nil {
		t.Fatal(err)
	}
	for mode, want := range map[string][]string{"a": {"far"}, "b": nil, "c": {"near", "far"}} {
		if got := base.Misplaced(fs, mode); !slices.Equal(got, want) {
			t.Errorf("misplaced with mode %s: %v, want %v", mode, got, want)
		}
	}
	if got := base.Modes(fs, "near"); !slices.Equal(got, []string{"a", "b"}) || base.Modes(fs, "age") != nil {
		t.Errorf("modes %v", got)
	}
}

// An old word of a flag's value is taken as today's, in lists too, and noticed.
func TestOldValues(t *testing.T) {
	t.Parallel()
	cmd := &cobra.Command{Use: "x"}
	list := cmd.Flags().StringSlice("replace", nil, "by `WHAT`")
	count := cmd.Flags().String("restarts", "auto", "")
	base.OldValues(cmd.Flags(), "replace", "far", "farthest-class")
	base.OldValues(cmd.Flags(), "restarts", "-1", "none")
	if usage := cmd.Flags().FlagUsages(); strings.Contains(usage, "[]") || !strings.Contains(usage, "--replace WHAT ") {
		t.Errorf("usage %s", usage)
	}
	if err := cmd.ParseFlags([]string{"--replace", "far,new", "--restarts=-1"}); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(*list, []string{"farthest-class", "new"}) || *count != "none" {
		t.Errorf("%v %s", *list, *count)
	}
	var stderr strings.Builder
	base.NoteOldNames(base.NewStreams(nil, &strings.Builder{}, &stderr), cmd)
	for _, want := range []string{"--replace far,new is now --replace farthest-class,new\n", "--restarts -1 is now --restarts none\n"} {
		if !strings.Contains(stderr.String(), want) {
			t.Errorf("notice %q lacks %q", stderr.String(), want)
		}
	}
}
