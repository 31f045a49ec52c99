package record

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// losses are what a result has that is there, and the one that replaces it would not.
type losses []string

// add adds a loss, if it is one.
func (l *losses) add(lost bool, format string, args ...any) {
	if lost {
		*l = append(*l, fmt.Sprintf(format, args...))
	}
}

// gone adds what is in a list and not in the new one.
func (l *losses) gone(there, now []string, what string) {
	for _, v := range there {
		l.add(!slices.Contains(now, v), "%s %s", what, v)
	}
}

// lessOf says that a measurement has less of something than the one that is there, such
// as "200 triplets instead of 100".
func lessOf(there, now int, what string) []string {
	if there <= now {
		return nil
	}
	return []string{fmt.Sprintf("%d %s instead of %d", there, what, now)}
}

// otherThan says that settings differ of which none has more.
func otherThan[T comparable](there, now T, what string) []string {
	if there == now {
		return nil
	}
	return []string{fmt.Sprintf("%s %v instead of %v", what, there, now)}
}

// otherSettings names the options that differ, by their keys in JSON.
func otherSettings(there, now any, section string) []string {
	a, b := flat(there), flat(now)
	keys := slices.Collect(maps.Keys(a))
	for k := range b {
		if _, ok := a[k]; !ok {
			keys = append(keys, k)
		}
	}
	slices.Sort(keys)
	var out []string
	for _, k := range keys {
		if a[k] != b[k] {
			out = append(out, fmt.Sprintf("%s %s instead of %s", section+k, setting(k, a[k]), setting(k, b[k])))
		}
	}
	return out
}

// setting is the value of an option in words.
func setting(key, value string) string {
	switch {
	case value == "":
		return "none"
	case key == "k" && value == "0":
		return "by the number of classes"
	}
	return value
}

// flat lists the values of options by their keys, those of sections as section.key.
func flat(v any) map[string]string {
	b, err := json.Marshal(v)
	var tree map[string]any
	if err == nil {
		err = json.Unmarshal(b, &tree)
	}
	if err != nil {
		panic(fmt.Sprintf("options that are no JSON object: %v", err)) // they are written as one
	}
	out := map[string]string{}
	var walk func(before string, tree map[string]any)
	walk = func(before string, tree map[string]any) {
		for k, v := range tree {
			if section, ok := v.(map[string]any); ok {
				walk(before+k+".", section)
				continue
			}
			text, _ := json.Marshal(v) // what was read from JSON
			out[before+k] = strings.Trim(string(text), `"`)
		}
	}
	walk("", tree)
	return out
}
