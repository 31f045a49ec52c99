package config

import (
	"reflect"
	"strings"

	"tercet/internal/component"
	"tercet/internal/imaging/transform"
	"tercet/internal/lists"
	"tercet/internal/record/printed"
)

// values lists the values of a key that takes one of a few: the components of its
// family, the words of its enum, or true and false. Other keys have none.
func values(f field) []printed.ConfigValue {
	if name := f.choice; name != "" {
		return components(families[name])
	}
	if kind := f.tag.Get("steps"); kind != "" {
		return steps(kind == "fixed")
	}
	var out []printed.ConfigValue
	words := component.Words(f.tag)
	if words == nil && f.typ.Kind() == reflect.Bool {
		words = []string{"true", "false"}
	}
	for _, w := range words {
		out = append(out, printed.ConfigValue{Value: w})
	}
	return out
}

func components(family []part) []printed.ConfigValue {
	return lists.Map(family, func(c part) printed.ConfigValue { return printed.ConfigValue{Value: c.Name, Doc: c.Doc} })
}

// steps lists the steps of transforms, those that draw nothing alone where fixed is set.
func steps(fixed bool) (out []printed.ConfigValue) {
	for _, c := range transform.Family.All() {
		if !fixed || !(transform.Pipeline{c.Defaults}).Random() {
			out = append(out, printed.ConfigValue{Value: c.Name, Doc: c.Doc + ": " + transform.Signature(c.Defaults)})
		}
	}
	return out
}

// ValuesOf lists the values that the dotted key may take, of all components that have
// it. A section with components, such as miner, takes their names. Keys of other kinds
// have none.
func ValuesOf(key string) []printed.ConfigValue {
	var out []printed.ConfigValue
	seen := map[string]bool{}
	add := func(list []printed.ConfigValue) {
		for _, v := range list {
			if !seen[v.Value] {
				seen[v.Value] = true
				out = append(out, v)
			}
		}
	}
	for _, k := range Keys() {
		if k.Key == key || k.Chooses && k.Key[:strings.LastIndex(k.Key, ".")] == key {
			add(k.Values)
		}
	}
	return out
}
