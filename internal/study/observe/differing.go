package observe

import (
	"slices"
	"strings"

	"tercet/internal/lists"
	"tercet/internal/text"
)

// Named says whether a config key or its section is in a list.
func Named(list []string, key string) bool {
	section, _, _ := strings.Cut(key, ".")
	return key == "name" || key == "seed" || slices.Contains(list, key) || slices.Contains(list, section)
}

// differing fills the field with the config keys in which runs differ.
func (f *Field) differing(all []*Observation) (notes []string) {
	d := f.Differing
	groups, order := GroupBy(all, func(o *Observation) string { return o.Fields[d.Within] })
	for _, id := range order {
		members := groups[id]
		keys := differingKeys(members, d.But)
		for _, o := range members {
			var parts []string
			for _, l := range o.Run.Labels {
				if slices.Contains(keys, l.Key) {
					parts = append(parts, l.Key+" "+l.Value)
				}
			}
			o.Fields[f.Name] = strings.Join(parts, ", ")
		}
		if d.Note != "" && keys != nil {
			notes = append(notes, strings.TrimPrefix(id+": ", ": ")+d.Note+" "+text.Some(keys))
		}
	}
	return notes
}

// differingKeys are the config keys, but for some, in which runs differ: those that not
// all have with one value.
func differingKeys(members []*Observation, but []string) []string {
	type found struct {
		value string
		runs  int
	}
	same := map[string]*found{} // keys with one value in the runs so far
	var all []string
	for _, o := range members {
		for _, l := range o.Run.Labels {
			was := same[l.Key]
			switch {
			case was == nil:
				same[l.Key] = &found{l.Setting(), 1}
				all = append(all, l.Key)
			case was.value == l.Setting():
				was.runs++
			}
		}
	}
	return lists.Filter(all, func(key string) bool { return same[key].runs < len(members) && !Named(but, key) })
}

// addOptions tells observations of one value apart by their options.
func (f *Field) addOptions(all []*Observation) {
	groups, order := GroupBy(all, func(o *Observation) string { return o.Fields[f.Options.Within] + "\n" + o.Fields[f.Name] })
	for _, id := range order {
		members := groups[id]
		keys := differingKeys(members, nil)
		for _, o := range members {
			but := o.Run != nil && len(f.Options.ButWhere) > 0 && f.Options.ButWhere.Fits(o.Text)
			for _, l := range o.Run.Labels {
				section, key, _ := strings.Cut(l.Key, ".")
				if !slices.Contains(keys, l.Key) || !slices.Contains(f.Options.Sections, section) || key == "name" || but && slices.Contains(f.Options.But, l.Key) {
					continue
				}
				if section != f.Options.Sections[0] {
					key = l.Key
				}
				o.Fields[f.Name] += ", " + key + " " + l.Value
			}
		}
	}
}

// Differing are config keys in which runs differ.
type Differing struct {
	But    []string `yaml:"but"`
	Within string   `yaml:"within"`
	Note   string   `yaml:"note"` // instead of a column, a note that begins so
}

// Options are config keys of sections that a field of one value may differ in.
type Options struct {
	Sections []string `yaml:"sections"`
	But      []string `yaml:"but"`
	ButWhere Where    `yaml:"but_where"`
	Within   string   `yaml:"within"`
}
