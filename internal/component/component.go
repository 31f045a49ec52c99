package component

import (
	"fmt"
	"slices"
	"strings"
)

// Component is one choice of a family. O is the interface of the family's options, or
// any.
type Component[O any] struct {
	Name     string
	Doc      string         // one line
	Defaults O              // a struct value: the keys with their defaults
	Preset   map[string]any // defaults that it changes among its section's common keys, by key
}

// Family is the components that one key of a config chooses among.
type Family[O any] struct {
	order []string
	list  []Component[O]
}

// NewFamily returns an empty family. The components named come first, in this order,
// the first of them the default; others follow by name.
func NewFamily[O any](order ...string) *Family[O] { return &Family[O]{order: order} }

// Register adds a component. It panics on a name that is taken: a mistake in the
// program.
func (f *Family[O]) Register(c Component[O]) {
	if _, taken := f.Lookup(c.Name); taken {
		panic(fmt.Sprintf("component: two components are called %q", c.Name))
	}
	f.list = append(f.list, c)
	slices.SortFunc(f.list, func(a, b Component[O]) int {
		if d := f.place(a.Name) - f.place(b.Name); d != 0 {
			return d
		}
		return strings.Compare(a.Name, b.Name)
	})
}

// place is the position of name in the given order, its end for others.
func (f *Family[O]) place(name string) int {
	if i := slices.Index(f.order, name); i >= 0 {
		return i
	}
	return len(f.order)
}

// All returns the components in order. The list is the caller's.
func (f *Family[O]) All() []Component[O] { return slices.Clone(f.list) }

// Names returns the names in order.
func (f *Family[O]) Names() []string {
	out := make([]string, len(f.list))
	for i, c := range f.list {
		out[i] = c.Name
	}
	return out
}

// Lookup returns the component of that name.
func (f *Family[O]) Lookup(name string) (Component[O], bool) {
	for _, c := range f.list {
		if c.Name == name {
			return c, true
		}
	}
	return Component[O]{}, false
}

// Plain returns the components with options of any type, as package config holds
// families of different kinds.
func (f *Family[O]) Plain() []Component[any] {
	out := make([]Component[any], len(f.list))
	for i, c := range f.list {
		out[i] = Component[any]{c.Name, c.Doc, c.Defaults, c.Preset}
	}
	return out
}
