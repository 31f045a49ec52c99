package config

import (
	"fmt"
	"reflect"
	"strings"

	"tercet/internal/component"
	"tercet/internal/names"
)

// decoder fills a config from a tree and collects every mistake.
type decoder struct {
	origins map[string]origin
	bad     map[string]bool // keys whose value could not be read
	errs    []*Error
	old     []string // notices of keys under former names
}

func (d *decoder) fail(at origin, key, format string, args ...any) {
	d.bad[key] = true
	d.errs = append(d.errs, at.errorf(key, fmt.Sprintf(format, args...)))
}

// section fills v (an addressable struct) from n; a nil n leaves the defaults.
// path ends in a dot, or is empty at the top.
func (d *decoder) section(v reflect.Value, n *node, path string) {
	t := v.Type()
	if n == nil {
		n = &node{kind: mapping}
	}
	n = spell(t, n)
	disc, family, poly := choice(t)
	if poly { // what cannot be read counts as the default for the rules
		v.FieldByName("Options").Set(reflect.ValueOf(family[0].Defaults))
	}
	if n.kind != mapping {
		own := fieldNames(fields(t))
		if poly {
			own = []string{disc.name}
		}
		d.fail(n.at, strings.TrimSuffix(path, "."), "is a section with keys such as %s, got %s", own[0], n.what())
		return
	}
	own := fields(t)
	var options reflect.Value
	var optional []field
	if poly {
		c, ok := d.component(v.Field(disc.index), disc, family, n, path)
		if !ok {
			return
		}
		options = reflect.New(reflect.TypeOf(c.Defaults)).Elem()
		options.Set(reflect.ValueOf(c.Defaults))
		optional = optionFields(c)
		preset(v, own, c.Preset)
	}
	for _, e := range n.keys {
		_, common := find(own, e.key)
		if _, special := find(optional, e.key); !common && !special {
			d.unknown(v, e, path, append(fieldNames(own), fieldNames(optional)...))
		}
	}
	for _, f := range own {
		if !poly || f.name != disc.name {
			d.field(v.Field(f.index), f, n, path)
		}
	}
	for _, f := range optional {
		d.field(options.Field(f.index), f, n, path)
	}
	clearOutbid(v, own, n)
	if poly {
		clearOutbid(options, optional, n)
		v.FieldByName("Options").Set(options)
	}
}

// component reads the key that names the section's component.
func (d *decoder) component(v reflect.Value, f field, family []part, n *node, path string) (part, bool) {
	name := v.String()
	if name == "" {
		name = family[0].Name
	}
	if w := n.get(f.name); w != nil {
		if !d.scalar(w, path+f.name, "a name") {
			return part{}, false
		}
		name = w.text
		d.origins[path+f.name] = w.at
		if _, ok := lookup(family, name); !ok {
			d.fail(w.at, path+f.name, "unknown %s %q; %s", f.choice, name, names.Unknown(name, componentNames(family)))
			return part{}, false
		}
	}
	c, _ := lookup(family, name)
	v.SetString(name)
	return c, true
}

// preset sets the common keys of the section v of which a component has its own
// defaults.
func preset(v reflect.Value, own []field, values map[string]any) {
	for key, value := range values {
		f, ok := find(own, key)
		if !ok {
			panic("config: a component presets " + key + ", which its section does not have")
		}
		v.Field(f.index).Set(reflect.ValueOf(value))
	}
}

// clearOutbid sets to zero the defaults of a group of which another key is given.
func clearOutbid(v reflect.Value, own []field, n *node) {
	for _, f := range own {
		if n.get(f.name) == nil && outbid(own, f.name, n) {
			v.Field(f.index).SetZero()
		}
	}
}

func (d *decoder) field(v reflect.Value, f field, n *node, path string) {
	val := n.get(f.name)
	key := path + f.name
	switch {
	case component.IsSection(f.typ):
		d.section(v, val, key+".")
	case val != nil:
		d.origins[key] = val.at
		if val.was != "" {
			d.old = append(d.old, f.notice(val.at, path))
		}
		d.value(v, f, val, key)
	case f.typ == spanType && v.Interface().(component.Span).Unit == "":
		v.Set(reflect.ValueOf(component.Span{Unit: units(f)[0]}))
	}
}

// unknown reports a key that the section v does not have.
func (d *decoder) unknown(v reflect.Value, e entry, path string, valid []string) {
	if f, family, ok := choice(v.Type()); ok {
		if has := holders(family, e.key); len(has) > 0 {
			d.fail(e.at, path+e.key, "%s %q does not have this key; %s %s; set %s%s to one of them or remove the key; valid here: %s",
				f.choice, v.Field(f.index).String(), strings.Join(has, ", "), plural(len(has), "has it", "have it"),
				path, f.name, strings.Join(valid, ", "))
			return
		}
	}
	if path == "" {
		if e.key == "include" { // of a file it is read before
			d.fail(e.at, e.key, "is read from config files alone: write include: [FILE.yaml] into one")
			return
		}
		valid = append(valid, "include")
	}
	msg := names.Unknown(e.key, valid)
	if names.Closest(e.key, valid) == "" {
		if paths := elsewhere(e.key); len(paths) > 0 {
			msg = fmt.Sprintf("did you mean %s? %s", strings.Join(paths, " or "), msg)
		}
	}
	d.fail(e.at, path+e.key, "unknown key; %s", msg)
}

func plural(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}
