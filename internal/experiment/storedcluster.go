package experiment

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"tercet/internal/record"
)

// StoredCluster reads a cluster.json, as StoredAttack does.
func StoredCluster(path string) (*record.Cluster, error) {
	return readKept[record.Cluster](path, record.ClusterSchema)
}

// LacksCluster says what d has and a clustering by o of at most limit images, 0 for all, of the
// same weights would not; nil if nothing.
func LacksCluster(d *record.Cluster, o record.ClusterOptions, limit int) []string {
	there := d.Options
	if there.Method != o.Method {
		return otherThan(there.Method, o.Method, "method")
	}
	var out []string
	if limit > 0 {
		out = lessOf(d.Source.Items, limit, "images")
	}
	out = append(out, lessOf(there.NInit, o.NInit, "starts of k-means")...)
	if d.Multicut != nil && d.Multicut.Comparison != nil && o.Multicut.Alone {
		out = append(out, "the comparison with other clusterings")
	}
	if len(d.Maps) > 0 {
		out = append(out, lacksMaps(there.Maps, o.Maps)...)
	}
	there.NInit, there.Maps, there.Multicut.Alone = o.NInit, o.Maps, o.Multicut.Alone
	there.Multicut.Matrix, there.Agglomerative.Memory = o.Multicut.Matrix, o.Agglomerative.Memory // bounds of memory change no result
	return append(out, otherSettings(there, o, "")...)
}

// lacksMaps says what maps by m there are that those by o would not be.
func lacksMaps(m record.MapOptions, o record.MapOptions) []string {
	switch {
	case o.Kind == "none":
		return []string{"the maps"}
	case m.Kind == o.Kind:
		return otherSettings(m, o, "maps.")
	case o.Kind == "both" || m.Kind == "pca" && o.Kind == "auto":
		return nil
	}
	return otherThan(m.Kind, o.Kind, "maps")
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
