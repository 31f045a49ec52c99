package config

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"

	"tercet/internal/component"
	"tercet/internal/record/printed"
)

// Keys lists every key of every component, in the order of the sections.
func Keys() []printed.ConfigKey { return slices.Clone(allKeys()) }

var allKeys = sync.OnceValue(func() []printed.ConfigKey {
	c, err := Load("", nil)
	if err != nil {
		panic("config: the defaults are not valid: " + err.Error())
	}
	return keys(reflect.ValueOf(c).Elem(), "", nil)
})

func keys(v reflect.Value, path string, with []string) []printed.ConfigKey {
	var out []printed.ConfigKey
	one := func(v reflect.Value, f field, with []string) {
		if component.IsSection(f.typ) {
			out = append(out, keys(v, path+f.name+".", with)...)
			return
		}
		out = append(out, printed.ConfigKey{
			Key: path + f.name, With: with, Default: leaf{v: v, f: f}.text(), Valid: valid(f), Values: values(f), Doc: f.tag.Get("doc"),
			Chooses: f.choice != "",
		})
	}
	for _, f := range fields(v.Type()) {
		one(v.Field(f.index), f, with)
	}
	_, family, _ := choice(v.Type())
	sharing := sharing(family)
	seen := map[string]bool{}
	for _, c := range family {
		o := reflect.New(reflect.TypeOf(c.Defaults)).Elem()
		o.Set(reflect.ValueOf(c.Defaults))
		for _, f := range fields(o.Type()) {
			id := meaning(o, f)
			if !seen[id] {
				seen[id] = true
				one(o.Field(f.index), f, sharing[id])
			}
		}
	}
	return out
}

// meaning is the same for keys of two components that have name, type, tag and default in
// common; o are the defaults.
func meaning(o reflect.Value, f field) string {
	return fmt.Sprintln(f.name, f.typ, f.tag, o.Field(f.index).Interface())
}

// sharing lists the components that have the same key with the same meaning.
func sharing(family []part) map[string][]string {
	out := map[string][]string{}
	for _, c := range family {
		for _, f := range optionFields(c) {
			id := meaning(reflect.ValueOf(c.Defaults), f)
			out[id] = append(out[id], c.Name)
		}
	}
	return out
}

func valid(f field) string {
	if name := f.choice; name != "" {
		return strings.Join(componentNames(families[name]), "|")
	}
	if words := component.Words(f.tag); words != nil {
		return strings.Join(words, "|")
	}
	if f.typ.Kind() == reflect.Bool {
		return "true|false"
	}
	return strings.ReplaceAll(f.tag.Get("check"), ",", " and ")
}
