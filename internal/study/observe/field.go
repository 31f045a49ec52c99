package observe

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"tercet/internal/render"
)

// check refuses a field without a value.
func (f *Field) check() error {
	n := 0
	for _, is := range []bool{f.From != "", f.Cases != nil, f.Differing != nil} {
		if is {
			n++
		}
	}
	if n != 1 {
		return fmt.Errorf("give one of from, cases and differing")
	}
	for _, c := range f.Cases {
		if _, err := holes(c.As); err != nil {
			return err
		}
	}
	return nil
}

// checkSources refuses sources that there are not; before are the fields above.
func (f *Field) checkSources(before []string) error {
	for _, s := range f.sources() {
		if err := checkSource(s, before); err != nil {
			return err
		}
	}
	return nil
}

// sources are all that the field reads.
func (f *Field) sources() []string {
	var out []string
	if f.From != "" {
		out = append(out, f.From)
	}
	for _, c := range f.Cases {
		in, _ := holes(c.As)
		out = append(append(out, c.Where.Sources()...), in...)
	}
	if f.Options != nil {
		out = append(out, f.Options.ButWhere.Sources()...)
	}
	return out
}

// addFields gives every observation its fields, and returns the notes of those that are no
// column.
func (d *Description) addFields(all []*Observation) (notes []string, err error) {
	for i := range d.Fields {
		f := &d.Fields[i]
		for _, o := range all {
			for _, s := range f.sources() {
				if err := o.load(s); err != nil {
					return nil, err
				}
			}
			o.Fields[f.Name] = f.value(o)
		}
		if f.Differing != nil {
			notes = append(notes, f.differing(all)...)
		}
		if f.Options != nil {
			f.addOptions(all)
		}
	}
	return notes, nil
}

func (f *Field) value(o *Observation) string {
	v := ""
	if f.From != "" {
		v = o.Text(f.From)
	}
	for _, c := range f.Cases {
		if c.Where.Fits(o.Text) {
			v = Fill(c.As, o.Text)
			break
		}
	}
	if x, err := strconv.ParseFloat(v, 64); f.Number && err == nil {
		v = Short(x)
	}
	return v
}

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
			notes = append(notes, strings.TrimPrefix(id+": ", ": ")+d.Note+" "+render.Listed(keys))
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
	var keys []string
	for _, key := range all {
		if same[key].runs < len(members) && !Named(but, key) {
			keys = append(keys, key)
		}
	}
	return keys
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

// Compare orders two values.
func (f *Field) Compare(a, b string) int {
	sign := 1
	if f.Descending {
		sign = -1
	}
	if f.Number {
		x, _ := strconv.ParseFloat(a, 64)
		y, _ := strconv.ParseFloat(b, 64)
		return sign * cmp.Compare(x, y)
	}
	place := func(v string) int {
		if i := slices.Index(f.Order, v); i >= 0 {
			return i
		}
		return len(f.Order)
	}
	return sign * cmp.Or(place(a)-place(b), strings.Compare(a, b))
}

// GroupBy parts a list by an id, in the order of the first of each.
func GroupBy[T any](list []T, id func(T) string) (map[string][]T, []string) {
	groups := map[string][]T{}
	var order []string
	for _, x := range list {
		k := id(x)
		if groups[k] == nil {
			order = append(order, k)
		}
		groups[k] = append(groups[k], x)
	}
	return groups, order
}

// Field is a text of an observation.
type Field struct {
	Name  string   `yaml:"name"`
	From  string   `yaml:"from"`  // a source
	Cases []Case   `yaml:"cases"` // or the first that fits
	Order []string `yaml:"order"` // of values; others follow by the alphabet
	// Number sorts by value and writes 0.10 as 0.1; Descending sorts from the last value.
	Number     bool `yaml:"number"`
	Descending bool `yaml:"descending"`
	// Differing lists config keys, with their values, in which runs with the same value of
	// the field Within differ: all but those named as keys or sections.
	Differing *Differing `yaml:"differing"`
	// Options adds the options in which observations of the same value differ.
	Options *Options `yaml:"options"`
}

// Case is a value for observations that have what Where says.
type Case struct {
	Where Where  `yaml:"where"`
	As    string `yaml:"as"` // with {source}, {source|upper}, {source|percent}
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
