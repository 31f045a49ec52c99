package cli

import (
	"github.com/spf13/pflag"
)

// oldNameKey names the annotation of a flag that was given by an old name.
const oldNameKey = "old-name"

// oldNames lets flags be given by the names that older versions had: pairs of an old name
// and today's. Help does not show them, and a notice says what to write.
func oldNames(fs *pflag.FlagSet, pairs ...string) {
	today := map[string]string{}
	flags := map[string]*pflag.Flag{}
	for i := 0; i < len(pairs); i += 2 {
		today[pairs[i]] = pairs[i+1]
		flags[pairs[i]] = fs.Lookup(pairs[i+1])
	}
	before := fs.GetNormalizeFunc()
	fs.SetNormalizeFunc(func(all *pflag.FlagSet, name string) pflag.NormalizedName {
		if now, ok := today[name]; ok {
			flags[name].Annotations = map[string][]string{oldNameKey: {name}}
			name = now
		}
		return before(all, name)
	})
}

// noteOldNames says which flags were given by an old name.
func noteOldNames(s *Streams, fs *pflag.FlagSet) {
	fs.Visit(func(f *pflag.Flag) {
		if old := f.Annotations[oldNameKey]; old != nil {
			s.Note("--%s is an old name: write --%s", old[0], f.Name)
		}
	})
}
