package base

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// OldNameKey names the annotation of a flag that was given by an old name, and of a command
// that was: its value is the notice then.
const OldNameKey = "old-name"

// OldNames lets flags be given by the names that older versions had: pairs of an old name
// and today's. Help does not show them, and a notice says what to write.
func OldNames(fs *pflag.FlagSet, pairs ...string) {
	today := map[string]string{}
	flags := map[string]*pflag.Flag{}
	for i := 0; i < len(pairs); i += 2 {
		today[pairs[i]] = pairs[i+1]
		flags[pairs[i]] = fs.Lookup(pairs[i+1])
	}
	before := fs.GetNormalizeFunc()
	fs.SetNormalizeFunc(func(all *pflag.FlagSet, name string) pflag.NormalizedName {
		if now, ok := today[name]; ok {
			flags[name].Annotations = map[string][]string{OldNameKey: {name}}
			name = now
		}
		return before(all, name)
	})
}

// NoteOldNames says which flags were given by an old name, and whether the command was.
func NoteOldNames(s *Streams, cmd *cobra.Command) {
	if notice := cmd.Annotations[OldNameKey]; notice != "" {
		s.Note("%s", notice)
	}
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if old := f.Annotations[OldNameKey]; old != nil {
			s.Note("--%s is an old name: write --%s", old[0], f.Name)
		}
	})
}
