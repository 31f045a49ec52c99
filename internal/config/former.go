package config

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"

	"tercet/internal/component"
)

// OldKeys says which keys of the config and of its sweep have former names, one notice a key
// with the name of today: "x.yaml:3: defense.variant is an old name: write
// defense.implementation".
func (c *Config) OldKeys() []string {
	if c.src == nil {
		return nil
	}
	out := slices.Clone(c.src.old)
	for _, a := range c.Axes {
		path, name := "", a.Key
		if dot := strings.LastIndex(a.Key, "."); dot >= 0 {
			path, name = a.Key[:dot+1], a.Key[dot+1:]
		}
		for _, f := range formerly(sectionAt(path)) {
			if f.was == name {
				out = append(out, f.notice(a.at, "sweep."+path))
			}
		}
	}
	return out
}

// sectionAt is the type of the section with that path, such as "defense."; nil where there
// is none.
func sectionAt(path string) reflect.Type {
	t := reflect.TypeFor[Config]()
	for part := range strings.SplitSeq(strings.TrimSuffix(path, "."), ".") {
		if part == "" {
			break
		}
		f, ok := find(fields(t), part)
		if !ok || !component.IsSection(f.typ) {
			return nil
		}
		t = f.typ
	}
	return t
}

// notice says that a config has the field under its former name, in the section with that
// path.
func (f field) notice(at origin, path string) string {
	out := fmt.Sprintf("%s: %s%s is an old name: write %s%s", at, path, f.was, path, f.name)
	for _, w := range strings.Split(f.tag.Get("words"), "|") {
		if old, now, ok := strings.Cut(w, "="); ok {
			out += fmt.Sprintf(", and %s instead of %s", now, old)
		}
	}
	return out
}

// renamed writes the keys of section n that had another name, tag was, by their name of
// today, and their values that had another one, tag words ("old=new"), too.
func renamed(t reflect.Type, n *node) *node {
	out := n
	for _, f := range formerly(t) {
		was := f.was
		if n.get(was) == nil || n.get(f.name) != nil { // both: the old one is an unknown key
			continue
		}
		if out == n {
			out = keep(n, func(string) bool { return true })
		}
		for i, e := range out.keys {
			if e.key != was {
				continue
			}
			val := *e.val
			val.was = was
			for _, w := range strings.Split(f.tag.Get("words"), "|") {
				if old, now, ok := strings.Cut(w, "="); ok && val.kind == scalar && val.text == old {
					val.text = now
				}
			}
			out.keys[i] = entry{f.name, e.at, &val}
		}
	}
	return out
}

// former are the lists of formerly.
var former sync.Map // of reflect.Type to []field

// formerly lists the keys of a section that had another name, those of its components
// once. The list is shared: it must not be changed.
func formerly(t reflect.Type) []field {
	if t == nil {
		return nil
	}
	if list, ok := former.Load(t); ok {
		return list.([]field)
	}
	var out []field
	list := fields(t)
	if _, family, ok := choice(t); ok {
		for _, c := range family {
			list = append(list, optionFields(c)...)
		}
	}
	for _, f := range list {
		if f.was != "" && !slices.ContainsFunc(out, func(g field) bool { return g.was == f.was }) {
			out = append(out, f)
		}
	}
	former.Store(t, out)
	return out
}
