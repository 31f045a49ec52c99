package config

import (
	"reflect"
	"slices"
	"strings"
	"sync"

	"tercet/internal/component"
)

// field is one key of a section.
type field struct {
	name  string
	index int
	typ   reflect.Type
	tag   reflect.StructTag

	choice string // its tag: the family of the section's component
	was    string // its tag: the key's former name
	group  string // its tag oneof: keys of which one counts
}

var (
	spanType = reflect.TypeFor[component.Span]()
	axesType = reflect.TypeFor[Axes]()
	autoType = reflect.TypeFor[component.Auto]()
)

// known are the keys of the types of sections, which reflection takes long to list.
var known sync.Map // of reflect.Type to []field

// fields lists a section's own keys, without those of its component. The list is
// shared: it can be appended to and not changed.
func fields(t reflect.Type) []field {
	if list, ok := known.Load(t); ok {
		return list.([]field)
	}
	var list []field
	for i := range t.NumField() {
		f := t.Field(i)
		if name := f.Tag.Get("yaml"); name != "" && name != "-" {
			list = append(list, field{name, i, f.Type, f.Tag, f.Tag.Get("choice"), f.Tag.Get("was"), f.Tag.Get("oneof")})
		}
	}
	list = slices.Clip(list)
	known.Store(t, list)
	return list
}

func find(list []field, name string) (field, bool) {
	for _, f := range list {
		if f.name == name {
			return f, true
		}
	}
	return field{}, false
}

func fieldNames(list []field) []string {
	out := make([]string, len(list))
	for i, f := range list {
		out[i] = f.name
	}
	return out
}

// choice returns the key that names a section's component and its family.
func choice(t reflect.Type) (f field, family []part, ok bool) {
	for _, f := range fields(t) {
		if name := f.choice; name != "" {
			return f, families[name], true
		}
	}
	return field{}, nil, false
}

func lookup(family []part, name string) (part, bool) {
	for _, c := range family {
		if c.Name == name {
			return c, true
		}
	}
	return part{}, false
}

func componentNames(family []part) []string {
	out := make([]string, len(family))
	for i, c := range family {
		out[i] = c.Name
	}
	return out
}

func optionFields(c part) []field { return fields(reflect.TypeOf(c.Defaults)) }

// holders returns the components of a family that have a key.
func holders(family []part, key string) []string {
	var out []string
	for _, c := range family {
		if _, ok := find(optionFields(c), key); ok {
			out = append(out, c.Name)
		}
	}
	return out
}

// elsewhere lists the paths of all sections that have a key of this name, for
// the message about a key in the wrong section.
func elsewhere(key string) []string {
	var out []string
	seen := map[string]bool{}
	var visit func(t reflect.Type, path string)
	visit = func(t reflect.Type, path string) {
		list := fields(t)
		if _, family, ok := choice(t); ok {
			for _, c := range family {
				list = append(list, optionFields(c)...)
			}
		}
		for _, f := range list {
			p := path + f.name
			if f.name == key && path != "" && !seen[p] {
				seen[p] = true
				out = append(out, p)
			}
			if component.IsSection(f.typ) && strings.Count(p, ".") < 8 {
				visit(f.typ, p+".")
			}
		}
	}
	visit(reflect.TypeFor[Config](), "")
	return out
}
