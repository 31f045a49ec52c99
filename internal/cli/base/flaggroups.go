package base

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// The annotations of flags that are grouped: their heading in the help, and the modes of
// the command that they go with.
const (
	groupKey = "group"
	modesKey = "modes"
)

// Group puts the flags that were declared since the last call under a heading of the help.
// They go with these modes of the command alone, but for flags to which Only gave others;
// without modes they go with all.
func Group(fs *pflag.FlagSet, title string, modes ...string) {
	fs.SortFlags = false
	fs.VisitAll(func(f *pflag.Flag) {
		if f.Annotations[groupKey] != nil {
			return
		}
		annotate(f, groupKey, title)
		if len(modes) > 0 && f.Annotations[modesKey] == nil {
			annotate(f, modesKey, modes...)
		}
	})
}

// Only says that flags go with these modes of the command alone.
func Only(fs *pflag.FlagSet, modes []string, flags ...string) {
	for _, name := range flags {
		annotate(fs.Lookup(name), modesKey, modes...)
	}
}

func annotate(f *pflag.Flag, key string, values ...string) {
	if f.Annotations == nil {
		f.Annotations = map[string][]string{}
	}
	f.Annotations[key] = values
}

// Modes returns the modes of the command that a flag goes with; nil where it goes with all.
func Modes(fs *pflag.FlagSet, flag string) []string { return fs.Lookup(flag).Annotations[modesKey] }

// Modal calls f with every flag that was given and goes with some modes alone, in the order
// of their declaration.
func Modal(fs *pflag.FlagSet, f func(flag string, modes []string)) {
	fs.VisitAll(func(flag *pflag.Flag) {
		if modes := flag.Annotations[modesKey]; flag.Changed && modes != nil {
			f(flag.Name, modes)
		}
	})
}

// Misplaced returns the flags that were given and do not go with a mode, by their names.
func Misplaced(fs *pflag.FlagSet, mode string) []string {
	var out []string
	Modal(fs, func(flag string, modes []string) {
		if !slices.Contains(modes, mode) {
			out = append(out, flag)
		}
	})
	return out
}

// allFlags is the heading of the flags that every command has.
const allFlags = "Flags of all commands"

// FlagGroup is a heading of a command's help with its flags.
type FlagGroup struct {
	Title string
	Flags *pflag.FlagSet
}

// FlagGroups returns a command's flags under their headings, in the order of the help; the
// last are the flags of all commands. Without headings those of the command's own are one
// group.
func FlagGroups(cmd *cobra.Command) []FlagGroup {
	var out []FlagGroup
	grouped := false
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) { grouped = grouped || f.Annotations[groupKey] != nil })
	put := func(title string, f *pflag.Flag) {
		at := slices.IndexFunc(out, func(g FlagGroup) bool { return g.Title == title })
		if at < 0 {
			at = len(out)
			out = append(out, FlagGroup{title, pflag.NewFlagSet("", pflag.ContinueOnError)})
			out[at].Flags.SortFlags = title == allFlags || cmd.Flags().SortFlags
		}
		out[at].Flags.AddFlag(f)
	}
	own := "Flags"
	if grouped {
		own = allFlags // --help
	}
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
		if title := f.Annotations[groupKey]; title != nil {
			put(title[0], f)
		} else {
			put(own, f)
		}
	})
	cmd.InheritedFlags().VisitAll(func(f *pflag.Flag) { put(allFlags, f) })
	return slices.DeleteFunc(out, func(g FlagGroup) bool { return !g.Flags.HasAvailableFlags() })
}

// helpColumns is the width to which the descriptions of flags are wrapped: that of a terminal
// of the usual size.
const helpColumns = 80

// flagUsages is the part of a command's help about flags.
func flagUsages(cmd *cobra.Command) string {
	var b strings.Builder
	for _, g := range FlagGroups(cmd) {
		b.WriteString("\n" + g.Title + ":\n" + strings.TrimRight(g.Flags.FlagUsagesWrapped(helpColumns), " \n") + "\n")
	}
	return b.String()
}

func init() { cobra.AddTemplateFunc("flagUsages", flagUsages) }

// UsageTemplate is how cobra prints the usage of a command.
const UsageTemplate = `{{if or .Runnable .HasAvailableSubCommands}}Usage:{{if .HasAvailableSubCommands}}
  {{.CommandPath}} COMMAND{{else if .Runnable}}
  {{.UseLine}}{{end}}
{{end}}{{if .HasAvailableSubCommands}}{{$cmds := .Commands}}{{if .Groups}}{{range $group := .Groups}}
{{.Title}}{{range $cmds}}{{if (and (eq .GroupID $group.ID) .IsAvailableCommand)}}
  {{rpad .Name .NamePadding}} {{.Short}}{{end}}{{end}}
{{end}}{{else}}
Commands:{{range $cmds}}{{if .IsAvailableCommand}}
  {{rpad .Name .NamePadding}} {{.Short}}{{end}}{{end}}
{{end}}{{end}}{{if .Runnable}}{{flagUsages .}}{{end}}{{with .Annotations}}{{with .exits}}
EXIT STATUS
{{. | trimTrailingWhitespaces}}
{{end}}{{end}}{{if .HasHelpSubCommands}}
More help:{{range .Commands}}{{if .IsAdditionalHelpTopicCommand}}
  tercet help {{rpad .Name .NamePadding}} {{.Short}}{{end}}{{end}}
{{end}}`
