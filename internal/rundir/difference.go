package rundir

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"tercet/internal/record"
	"tercet/internal/record/printed"
)

// Difference compares two runs: the config keys in which they differ, and all scores, each
// with the difference where both measured it alike. Both runs need their Labels.
func Difference(a, b *Run) *printed.RunDifference {
	return &printed.RunDifference{
		Schema: record.RunDifferenceSchema,
		Runs:   [2]string{a.Dir, b.Dir},
		Config: differentSettings(a.Labels, b.Labels),
		Scores: scoreDifferences(a, b),
		Notes:  differenceNotes(a, b),
	}
}

// differentSettings are the keys whose values differ, in the order of a's config, those of
// b alone last.
func differentSettings(a, b []Label) []printed.SettingPair {
	out := []printed.SettingPair{}
	other := map[string]*string{}
	for i := range b {
		other[b[i].Key] = &b[i].Value
	}
	for i := range a {
		l := &a[i]
		if v := other[l.Key]; v == nil || *v != l.Value {
			out = append(out, printed.SettingPair{Key: l.Key, Values: [2]*string{&l.Value, v}})
		}
		delete(other, l.Key)
	}
	for i := range b {
		if other[b[i].Key] != nil {
			out = append(out, printed.SettingPair{Key: b[i].Key, Values: [2]*string{nil, &b[i].Value}})
		}
	}
	return out
}

func scoreDifferences(a, b *Run) []printed.ScoreDifference {
	out := []printed.ScoreDifference{}
	ours, theirs := a.Scores(), b.Scores()
	for _, s := range ours {
		d := printed.ScoreDifference{Key: s.Key, Values: [2]*record.Value{&s.Value, nil}}
		if v, ok := theirs.Get(s.Key); ok {
			d.Values[1] = &v
			_, d.Unlike = UnlikeParts([][]Label{a.Measured(s.Key), b.Measured(s.Key)}, []string{a.Dir, b.Dir})
			if d.Unlike == "" {
				by := v.Value - s.Value.Value
				d.Difference = &by
			}
		}
		out = append(out, d)
	}
	for _, s := range theirs {
		if _, ok := ours.Get(s.Key); !ok {
			out = append(out, printed.ScoreDifference{Key: s.Key, Values: [2]*record.Value{nil, &s.Value}})
		}
	}
	return out
}

// differenceNotes say what makes a difference of scores less than it seems.
func differenceNotes(a, b *Run) []string {
	var notes []string
	add := func(what, x, y string) {
		if x != y {
			notes = append(notes, fmt.Sprintf("%s: %s, and %s", what, orNone(x), orNone(y)))
		}
	}
	for _, split := range []string{"train", "validation", "test"} {
		x, y := SetOf(a.Manifest.Data, split), SetOf(b.Manifest.Data, split)
		if x.Fingerprint != y.Fingerprint {
			notes = append(notes, fmt.Sprintf("the %s images are not the same: %s, and %s", split, setWords(x), setWords(y)))
		}
	}
	add("status", a.standing(), b.standing())
	add("versions", a.Versions(), b.Versions())
	add("kernel levels", a.Kernels(), b.Kernels())
	return slices.Concat(notes, a.Left, b.Left)
}

// standing is the status with the steps.
func (r *Run) standing() string {
	if r.Finished() && r.Manifest.Steps == r.Manifest.Of {
		return r.Status()
	}
	return fmt.Sprintf("%s at step %d of %d", strings.Trim(r.Status(), "*"), r.Manifest.Steps, r.Manifest.Of)
}

func orNone(s string) string {
	return cmp.Or(s, "none")
}

func setWords(s record.Set) string {
	if s.Items == 0 {
		return "none"
	}
	return fmt.Sprintf("%d with fingerprint %s", s.Items, shortPrint(s.Fingerprint))
}
