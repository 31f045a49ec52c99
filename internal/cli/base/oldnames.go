package base

import (
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"tercet/internal/config"
)

// OldNameKey names the annotation of a flag that was given by an old name, and of a command
// that was: its value is the notice then.
const OldNameKey = "old-name"

// The annotations that list the old spellings of a flag: its old names, and its old words, each
// before the word of today.
const (
	OldNamesKey = "old-names"
	OldWordsKey = "old-words"
)

// OldNames lets flags be given by the names that older versions had: pairs of an old name
// and today's. Help does not show them, and a notice says what to write.
func OldNames(fs *pflag.FlagSet, pairs ...string) {
	today := map[string]string{}
	flags := map[string]*pflag.Flag{}
	for i := 0; i < len(pairs); i += 2 {
		today[pairs[i]] = pairs[i+1]
		f := fs.Lookup(pairs[i+1])
		flags[pairs[i]] = f
		annotate(f, OldNamesKey, append(f.Annotations[OldNamesKey], pairs[i])...)
	}
	before := fs.GetNormalizeFunc()
	fs.SetNormalizeFunc(func(all *pflag.FlagSet, name string) pflag.NormalizedName {
		if now, ok := today[name]; ok {
			annotate(flags[name], OldNameKey, name)
			name = now
		}
		return before(all, name)
	})
}

// oldValueKey names the annotation of a flag that was given an old word: what to write.
const oldValueKey = "old-value"

// OldValues lets a flag take the words that older versions had, in lists too: pairs of an
// old word and today's. Help does not show them, and a notice says what to write.
func OldValues(fs *pflag.FlagSet, flag string, pairs ...string) {
	f := fs.Lookup(flag)
	today := map[string]string{}
	for i := 0; i < len(pairs); i += 2 {
		today[pairs[i]] = pairs[i+1]
	}
	annotate(f, OldWordsKey, pairs...)
	f.Value, f.DefValue = &renamed{f.Value, f, today}, strings.Trim(f.DefValue, "[]")
}

// renamed is the value of a flag some of whose words had other names.
type renamed struct {
	pflag.Value
	flag  *pflag.Flag
	today map[string]string
}

// Set implements pflag.Value.
func (v *renamed) Set(text string) error {
	words := strings.Split(text, ",")
	old := false
	for i, w := range words {
		if now, ok := v.today[w]; ok {
			words[i], old = now, true
		}
	}
	now := strings.Join(words, ",")
	if old {
		annotate(v.flag, oldValueKey, "--"+v.flag.Name+" "+text+" is now --"+v.flag.Name+" "+now)
	}
	return v.Value.Set(now)
}

// NoteOldNames says which flags were given by an old name or with an old word, and whether
// the command was.
func NoteOldNames(s *Streams, cmd *cobra.Command) {
	if notice := cmd.Annotations[OldNameKey]; notice != "" {
		s.Note("%s", notice)
	}
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if old := f.Annotations[OldNameKey]; old != nil {
			s.Note("--%s is an old name: write --%s", old[0], f.Name)
		}
		if old := f.Annotations[oldValueKey]; old != nil {
			s.Note("%s", old[0])
		}
	})
}

// NoteOldKeys says which keys of a config have old names.
func NoteOldKeys(s *Streams, cfg *config.Config) {
	for _, notice := range cfg.OldKeys() {
		s.Note("%s", notice)
	}
}
