package config

import (
	"reflect"
	"slices"

	"tercet/internal/component"
)

// merge lays over on base and returns the result; neither is changed. t is the
// section's type, nil where no section is known there. A layer that names
// another component than the layers below starts from that component's
// defaults: the other component's own keys are left behind when drop is set,
// also those that both have, such as width, which mean different things (unless
// the two share all their keys). Without drop, keys that it does not have are
// later refused as unknown.
func merge(t reflect.Type, base, over *node, drop bool) *node {
	switch {
	case base == nil:
		return over
	case t == nil:
		return over
	case t == axesType:
		return mergeAxes(base, over, drop)
	case !component.IsSection(t):
		return over
	case over.null:
		return base
	}
	base, over = spell(t, base), spell(t, over)
	if base.kind != mapping || over.kind != mapping {
		return over
	}
	list := fields(t)
	f, family, ok := choice(t)
	if ok {
		was, is := chosen(family, base.get(f.name)), chosen(family, base.get(f.name))
		if n := over.get(f.name); n != nil {
			is = n.text
		}
		c, known := lookup(family, is)
		if known {
			list = append(list, optionFields(c)...)
		}
		if known && drop && is != was {
			old, _ := lookup(family, was)
			same := reflect.TypeOf(old.Defaults) == reflect.TypeOf(c.Defaults)
			common := fields(t)
			base = keep(base, func(key string) bool {
				_, ok := find(common, key)
				return ok || same || len(holders(family, key)) == 0
			})
		}
	}
	if drop {
		base = keep(base, func(key string) bool { return !outbid(list, key, over) })
	}
	return lay(base, over, func(key string) reflect.Type {
		if f, ok := find(list, key); ok {
			return f.typ
		}
		// Overrides are laid on one another before the component is known that they
		// are for: defense.pgd.scale and defense.pgd.steps name none.
		for _, c := range family {
			if f, ok := find(optionFields(c), key); ok {
				return f.typ
			}
		}
		return nil
	}, drop)
}

// mergeAxes lays a sweep on another: axis by axis, unless the upper one is empty
// (null or {}), which stands for no sweep. What is laid on an empty one later does
// not bring back what it has cleared.
func mergeAxes(base, over *node, drop bool) *node {
	if over.cleared || over.noAxes() || base.kind != mapping && !base.null || over.kind != mapping {
		return over
	}
	out := over
	if base.kind == mapping {
		out = lay(base, over, func(string) reflect.Type { return nil }, drop)
	}
	if base.cleared || base.noAxes() {
		fresh := *out
		fresh.cleared = true
		return &fresh
	}
	return out
}

// noAxes says that n, a sweep, is written as none.
func (n *node) noAxes() bool { return n.null || n.kind == mapping && len(n.keys) == 0 }

// spell writes a section given as one word, such as "miner: softhard", in full.
func spell(t reflect.Type, n *node) *node {
	if f, _, ok := choice(t); ok && n.kind == scalar && !n.null {
		return &node{kind: mapping, at: n.at, keys: []entry{{f.name, n.at, n}}}
	}
	if n.null {
		return &node{kind: mapping, at: n.at}
	}
	return renamed(t, n)
}

func chosen(family []part, n *node) string {
	if n == nil {
		return family[0].Name
	}
	return n.text
}

// outbid reports whether over chooses another key of the group that key is in.
func outbid(list []field, key string, over *node) bool {
	f, ok := find(list, key)
	if !ok || f.group == "" || over.get(key) != nil {
		return false
	}
	return slices.ContainsFunc(list, func(g field) bool { return g.group == f.group && over.get(g.name) != nil })
}

func keep(n *node, want func(string) bool) *node {
	out := *n
	out.keys = nil
	for _, e := range n.keys {
		if want(e.key) {
			out.keys = append(out.keys, e)
		}
	}
	return &out
}

func lay(base, over *node, typ func(string) reflect.Type, drop bool) *node {
	out := *base
	out.keys = append([]entry(nil), base.keys...)
next:
	for _, e := range over.keys {
		for i := range out.keys {
			if out.keys[i].key == e.key {
				out.keys[i] = entry{e.key, e.at, merge(typ(e.key), out.keys[i].val, e.val, drop)}
				continue next
			}
		}
		out.keys = append(out.keys, e)
	}
	return &out
}
