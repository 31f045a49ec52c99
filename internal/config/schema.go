package config

import (
	"encoding/json"
	"reflect"
	"strings"

	"tercet/internal/component"
)

// EditorLine is the first line of configs that are written for people. An editor with a YAML
// language server completes and checks the file by the schema that it names.
const EditorLine = "# yaml-language-server: $schema=tercet.schema.json"

// JSONSchema returns the JSON Schema (draft 7) of a config file, from which
// editors complete and check YAML.
func JSONSchema() ([]byte, error) {
	s := sectionSchema(reflect.TypeFor[Config]())
	s["$schema"] = "http://json-schema.org/draft-07/schema#"
	s["title"] = "Tercet experiment"
	s["properties"].(object)["include"] = object{
		"description": "files laid below this one, later ones on top; relative to this file",
		"anyOf":       []any{object{"type": "string"}, object{"type": "array", "items": object{"type": "string"}}},
	}
	text, err := json.MarshalIndent(s, "", "  ")
	return append(text, '\n'), err
}

// object is a JSON object; encoding/json writes its keys sorted.
type object = map[string]any

func sectionSchema(t reflect.Type) object {
	props := object{}
	for _, f := range fields(t) {
		props[f.name] = fieldSchema(f)
	}
	out := object{"type": "object", "properties": props, "additionalProperties": false}
	disc, family, ok := choice(t)
	if !ok {
		return out
	}
	var words, docs []string
	for _, c := range family {
		words = append(words, c.Name)
		docs = append(docs, c.Name+": "+c.Doc)
	}
	props[disc.name] = object{"enum": words, "default": words[0],
		"description": disc.tag.Get("doc") + " (" + strings.Join(docs, "; ") + ")"}
	if rules := componentSchemas(props, disc.name, family); len(rules) > 0 {
		out["allOf"] = rules
	}
	return object{"anyOf": []any{out, object{"enum": words}}}
}

// componentSchemas adds every component's keys to props and returns a rule for
// each component that forbids the keys of the others.
func componentSchemas(props object, disc string, family []part) []any {
	var order []string
	variants := map[string][]any{}
	for _, c := range family {
		for _, f := range optionFields(c) {
			s := fieldSchema(f)
			if len(variants[f.name]) == 0 {
				order = append(order, f.name)
			} else if reflect.DeepEqual(variants[f.name][0], any(s)) {
				continue
			}
			variants[f.name] = append(variants[f.name], s)
		}
	}
	for name, list := range variants {
		if len(list) == 1 {
			props[name] = list[0]
		} else {
			props[name] = object{"anyOf": list}
		}
	}
	var rules []any
	for _, c := range family {
		forbidden := object{}
		for _, name := range order {
			if _, ok := find(optionFields(c), name); !ok {
				forbidden[name] = false
			}
		}
		if len(forbidden) > 0 {
			rules = append(rules, object{
				"if":   object{"properties": object{disc: object{"const": c.Name}}, "required": []string{disc}},
				"then": object{"properties": forbidden},
			})
		}
	}
	return rules
}

func fieldSchema(f field) object {
	s := typeSchema(f.typ, f)
	if doc := f.tag.Get("doc"); doc != "" {
		s["description"] = doc
	}
	return s
}

func typeSchema(t reflect.Type, f field) object {
	switch {
	case t == axesType:
		return object{"type": []string{"object", "null"}, "additionalProperties": object{"type": "array", "minItems": 1}}
	case t == spanType:
		return object{"anyOf": []any{
			object{"type": "number"},
			object{"type": "string", "pattern": `^[0-9.eE+/-]+( (` + strings.Join(units(f), "?|") + `?))?$`},
		}}
	case t == autoType:
		return object{"anyOf": []any{object{"const": "auto"}, typeSchema(reflect.TypeFor[float64](), f)}}
	case component.IsSection(t):
		return sectionSchema(t)
	}
	switch t.Kind() {
	case reflect.String:
		if words := component.Words(f.tag); words != nil {
			return object{"enum": words}
		}
		return object{"type": "string"}
	case reflect.Bool:
		return object{"type": "boolean"}
	case reflect.Int:
		return limits(object{"type": "integer"}, f)
	case reflect.Uint64:
		return object{"type": "integer", "minimum": 0}
	case reflect.Float64:
		return object{"anyOf": []any{limits(object{"type": "number"}, f), object{"type": "string", "pattern": `^[0-9.eE+-]+/[0-9.eE+-]+$`}}}
	case reflect.Pointer:
		s := typeSchema(t.Elem(), f)
		return object{"anyOf": []any{s, object{"type": "null"}}}
	case reflect.Slice:
		s := object{"type": "array", "items": typeSchema(t.Elem(), f)}
		if f.tag.Get("check") != "" { // an empty list has no value in any range
			s["minItems"] = 1
		}
		return s
	case reflect.Array:
		return object{"type": "array", "items": typeSchema(t.Elem(), f), "minItems": t.Len(), "maxItems": t.Len()}
	}
	panic("config: no schema for type " + t.String())
}

func limits(s object, f field) object {
	words := map[string]string{"<": "exclusiveMaximum", "<=": "maximum", ">": "exclusiveMinimum", ">=": "minimum"}
	for _, r := range component.Rules(f.tag.Get("check")) {
		s[words[r.Op]] = r.Limit
	}
	return s
}
