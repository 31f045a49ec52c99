package observe

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
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
