package study

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
func (t *Table) addFields(all []*observation) (notes []string, err error) {
	for i := range t.Fields {
		f := &t.Fields[i]
		for _, o := range all {
			for _, s := range f.sources() {
				if err := o.load(s); err != nil {
					return nil, err
				}
			}
			o.fields[f.Name] = f.value(o)
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

func (f *Field) value(o *observation) string {
	v := ""
	if f.From != "" {
		v = o.text(f.From)
	}
	for _, c := range f.Cases {
		if c.Where.Fits(o.text) {
			v = Fill(c.As, o.text)
			break
		}
	}
	if x, err := strconv.ParseFloat(v, 64); f.Number && err == nil {
		v = short(x)
	}
	return v
}

// named says whether a config key or its section is in a list.
func named(list []string, key string) bool {
	section, _, _ := strings.Cut(key, ".")
	return key == "name" || key == "seed" || slices.Contains(list, key) || slices.Contains(list, section)
}

// differing fills the field with the config keys in which runs differ.
func (f *Field) differing(all []*observation) (notes []string) {
	d := f.Differing
	groups, order := GroupBy(all, func(o *observation) string { return o.fields[d.Within] })
	for _, id := range order {
		members := groups[id]
		keys := differingKeys(members, d.But)
		for _, o := range members {
			var parts []string
			for _, l := range o.run.Labels {
				if slices.Contains(keys, l.Key) {
					parts = append(parts, l.Key+" "+l.Value)
				}
			}
			o.fields[f.Name] = strings.Join(parts, ", ")
		}
		if d.Note != "" && keys != nil {
			notes = append(notes, strings.TrimPrefix(id+": ", ": ")+d.Note+" "+render.Listed(keys))
		}
	}
	return notes
}

// differingKeys are the config keys, but for some, in which runs differ: those that not
// all have with one value.
func differingKeys(members []*observation, but []string) []string {
	type found struct {
		value string
		runs  int
	}
	same := map[string]*found{} // keys with one value in the runs so far
	var all []string
	for _, o := range members {
		for _, l := range o.run.Labels {
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
		if same[key].runs < len(members) && !named(but, key) {
			keys = append(keys, key)
		}
	}
	return keys
}

// addOptions tells observations of one value apart by their options.
func (f *Field) addOptions(all []*observation) {
	groups, order := GroupBy(all, func(o *observation) string { return o.fields[f.Options.Within] + "\n" + o.fields[f.Name] })
	for _, id := range order {
		members := groups[id]
		keys := differingKeys(members, nil)
		for _, o := range members {
			but := o.run != nil && len(f.Options.ButWhere) > 0 && f.Options.ButWhere.Fits(o.text)
			for _, l := range o.run.Labels {
				section, key, _ := strings.Cut(l.Key, ".")
				if !slices.Contains(keys, l.Key) || !slices.Contains(f.Options.Sections, section) || key == "name" || but && slices.Contains(f.Options.But, l.Key) {
					continue
				}
				if section != f.Options.Sections[0] {
					key = l.Key
				}
				o.fields[f.Name] += ", " + key + " " + l.Value
			}
		}
	}
}

// compare orders two values.
func (f *Field) compare(a, b string) int {
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
