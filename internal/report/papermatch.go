package report

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"tercet/internal/rundir"
)

// condition is a config key with the values that a row's runs may have there.
type condition struct {
	key  string
	want []any // texts, numbers, truth values, nil
}

// conditions checks a match section and puts it in a fixed order.
func conditions(match map[string]any) ([]condition, error) {
	if len(match) == 0 {
		return nil, fmt.Errorf("match names no config keys, so that every run would belong here")
	}
	var out []condition
	for _, key := range slices.Sorted(maps.Keys(match)) {
		want, ok := match[key].([]any)
		if !ok {
			want = []any{match[key]}
		}
		if len(want) == 0 {
			return nil, fmt.Errorf("match: %s has an empty list", key)
		}
		for _, w := range want {
			switch w.(type) {
			case nil, bool, string:
			default:
				if _, ok := number64(w); !ok {
					return nil, fmt.Errorf("match: %s: %v is neither a text, a number, true, false nor null", key, w)
				}
			}
		}
		out = append(out, condition{key, want})
	}
	return out, nil
}

// holds reports whether a run has one of the wanted values at the key.
func (c condition) holds(r *rundir.Run) bool {
	have, ok := r.Label(c.key)
	if c.key == "defense.source" {
		have, ok = sourceMiner(r)
	}
	return ok && slices.ContainsFunc(c.want, func(w any) bool { return equals(have, w) })
}

// sourceMiner is the sampler of a defense's triplets: the miner where none is set.
func sourceMiner(r *rundir.Run) (string, bool) {
	have, ok := r.Label("defense.source")
	if miner, there := r.Label("miner.name"); have == "null" && there {
		have = miner
	}
	return have, ok
}

// equals compares a config's value, as its resolved text has it, with a wanted
// one: numbers as numbers, texts with * for any letters.
func equals(have string, want any) bool {
	switch w := want.(type) {
	case nil:
		return have == "null"
	case bool:
		return have == strconv.FormatBool(w)
	case string:
		if text, err := strconv.Unquote(have); err == nil {
			have = text
		}
		return fits(have, w)
	}
	w, _ := number64(want)
	v, err := strconv.ParseFloat(have, 64)
	return err == nil && (v == w || math.Abs(v-w) <= 1e-9*math.Abs(w))
}

// fits reports whether s is the pattern, * standing for any letters or none.
func fits(s, pattern string) bool {
	parts := strings.Split(pattern, "*")
	if len(parts) == 1 {
		return s == pattern
	}
	s, ok := strings.CutPrefix(s, parts[0])
	for _, p := range parts[1 : len(parts)-1] {
		at := strings.Index(s, p)
		if ok = ok && at >= 0; ok {
			s = s[at+len(p):]
		}
	}
	return ok && strings.HasSuffix(s, parts[len(parts)-1])
}

// assign sorts runs into rows: of[i] are those of row i. A run that belongs to two
// rows is an error; those of none are left over.
func (t *PaperTable) assign(runs []*rundir.Run) (of [][]*rundir.Run, left []*rundir.Run, err error) {
	of = make([][]*rundir.Run, len(t.Rows))
	for _, r := range runs {
		at := -1
		for i := range t.Rows {
			if slices.ContainsFunc(t.Rows[i].match, func(c condition) bool { return !c.holds(r) }) {
				continue
			}
			if at >= 0 {
				return nil, nil, fmt.Errorf("%s belongs to two rows of the table, %s and %s: their match sections must differ",
					r.Dir, t.rowName(at), t.rowName(i))
			}
			at = i
		}
		if at < 0 {
			left = append(left, r)
			continue
		}
		of[at] = append(of[at], r)
	}
	return of, left, nil
}

// rowName is the label, with the row's number where several rows share it.
func (t *PaperTable) rowName(i int) string {
	name := fmt.Sprintf("%q", t.Rows[i].Label)
	if eta := t.Rows[i].Eta; eta > 0 {
		name += fmt.Sprintf(" eta %d", eta)
	}
	return fmt.Sprintf("%s (row %d)", name, i+1)
}
