package config

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"reflect"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"

	"tercet/internal/component"
	"tercet/internal/lists"
	"tercet/internal/text"
)

// leaf is one key with a value.
type leaf struct {
	path  string
	name  string
	depth int
	v     reflect.Value
	f     field
}

// walk calls f for every key that counts in the config, in the order of the
// structs: a component's keys follow its section's common ones.
func (c *Config) walk(f func(leaf)) {
	idle := c.idleKeys()
	c.walkAll(func(l leaf) {
		if within(l.path, idle) == "" {
			f(l)
		}
	})
}

// walkAll is walk of all keys.
func (c *Config) walkAll(f func(leaf)) {
	walk(reflect.ValueOf(c).Elem(), "", 0, f, everywhere)
}

// everywhere enters every section.
func everywhere(leaf) bool { return true }

// silent says that a resolved config leaves l out: a key, or a section of keys, with
// the value that tag omit names. A config without the key means the same.
func (l leaf) silent() bool {
	if !component.IsSection(l.f.typ) {
		text, ok := l.f.tag.Lookup("omit")
		return ok && l.text() == text
	}
	all := true
	walk(l.v, "", 0, func(inner leaf) { all = all && inner.silent() }, everywhere)
	return all
}

// walk calls enter with each section before its keys, and leaves out those for which
// it returns false.
func walk(v reflect.Value, path string, depth int, f func(leaf), enter func(leaf) bool) {
	visit := func(v reflect.Value, list []field) {
		for _, k := range list {
			l := leaf{path + k.name, k.name, depth, v.Field(k.index), k}
			switch {
			case !component.IsSection(k.typ):
				f(l)
			case enter(l):
				walk(l.v, l.path+".", depth+1, f, enter)
			}
		}
	}
	visit(v, fields(v.Type()))
	if _, _, ok := choice(v.Type()); ok {
		if o := v.FieldByName("Options").Elem(); o.IsValid() {
			visit(o, fields(o.Type()))
		}
	}
}

// Resolved returns the complete config as YAML: every key that counts, no includes,
// no overrides left to apply. Keys with a tag omit are left out where they have its
// value. Loading it gives the same config, and the same config gives the same bytes.
func (c *Config) Resolved() ([]byte, error) {
	var b bytes.Buffer
	indent := func(depth int) { b.WriteString(strings.Repeat("  ", depth)) }
	walk(reflect.ValueOf(c).Elem(), "", 0, func(l leaf) {
		if c.idle(l.path) != "" || l.silent() {
			return
		}
		indent(l.depth)
		if axes, ok := l.v.Interface().(Axes); ok && len(axes) > 0 {
			b.WriteString(l.name + ":\n")
			for _, a := range axes {
				indent(l.depth + 1)
				b.WriteString(text.YAML(a.Key) + ": [" + strings.Join(a.Values, ", ") + "]\n")
			}
			return
		}
		b.WriteString(l.name + ": " + l.text() + "\n")
	}, func(l leaf) bool {
		if c.idle(l.path) != "" || l.silent() {
			return false
		}
		indent(l.depth)
		b.WriteString(l.name + ":\n")
		return true
	})
	return b.Bytes(), nil
}

// Values returns the complete config as maps, lists and plain values, as
// Resolved writes it, for documents in JSON.
func (c *Config) Values() (any, error) {
	text, err := c.Resolved()
	if err != nil {
		return nil, err
	}
	var out any
	if err := yaml.Load(text, &out); err != nil {
		return nil, fmt.Errorf("the resolved config does not read back: %w", err)
	}
	return out, nil
}

// Hash returns 12 hexadecimal digits of the SHA-256 of Resolved.
func (c *Config) Hash() string {
	text, _ := c.Resolved() // writes to memory: cannot fail
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:6])
}

// text is the value as Resolved writes it, on one line.
func (l leaf) text() string {
	if axes, ok := l.v.Interface().(Axes); ok {
		parts := lists.Map(axes, func(a Axis) string { return text.YAML(a.Key) + ": [" + strings.Join(a.Values, ", ") + "]" })
		return "{" + strings.Join(parts, ", ") + "}"
	}
	return written(l.v)
}

func written(v reflect.Value) string {
	if s, ok := v.Interface().(component.Span); ok {
		return s.String()
	}
	if a, ok := v.Interface().(component.Auto); ok {
		return a.String()
	}
	switch v.Kind() {
	case reflect.String:
		return text.YAML(v.String())
	case reflect.Bool:
		return strconv.FormatBool(v.Bool())
	case reflect.Int:
		return strconv.FormatInt(v.Int(), 10)
	case reflect.Uint64:
		return strconv.FormatUint(v.Uint(), 10)
	case reflect.Float64:
		return component.Number(v.Float())
	case reflect.Pointer:
		if v.IsNil() {
			return "null"
		}
		return written(v.Elem())
	case reflect.Slice, reflect.Array:
		parts := make([]string, v.Len())
		for i := range parts {
			parts[i] = written(v.Index(i))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	}
	panic("config: a value of type " + v.Type().String() + " cannot be written")
}

// flow writes a tree as YAML on one line.
func (n *node) flow() string {
	parts := make([]string, 0, len(n.items)+len(n.keys))
	switch {
	case n.kind == sequence:
		for _, item := range n.items {
			parts = append(parts, item.flow())
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case n.kind == mapping:
		for _, e := range n.keys {
			parts = append(parts, text.YAML(e.key)+": "+e.val.flow())
		}
		return "{" + strings.Join(parts, ", ") + "}"
	case n.null:
		return "null"
	case n.plain && plainValue.MatchString(n.text):
		return n.text
	}
	return strconv.Quote(n.text)
}

// plainValue matches values that keep their meaning without quotes in a list.
var plainValue = regexp.MustCompile(`^([A-Za-z0-9_/]|[.+-][A-Za-z0-9])[A-Za-z0-9_./+@-]*( [a-z]+)?$`)
