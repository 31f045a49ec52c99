package experiment

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// KeptError refuses to replace what was measured of the same weights by less.
type KeptError struct {
	Path string
	Lost []string // what the new measurement would not have
}

// Error says what would be lost.
func (e *KeptError) Error() string {
	return fmt.Sprintf("%s has what this measurement has not: %s", e.Path, strings.Join(e.Lost, "; "))
}

// protect returns a KeptError where the measurement in file, of there, would be lost to
// one of the same run's checkpoint at step on set: where it is of other weights or images,
// or of the same and has more. Not so where the run has gone on, or o.Force is set.
func (r *Run) protect(file string, there Source, o MeasureOptions, step int, lost []string) error {
	if o.Force {
		return nil
	}
	switch now, err := r.Step(there.Checkpoint); {
	case err != nil || now != there.Step:
		return nil
	case there.Set != o.Set || there.Step != step:
		lost = []string{fmt.Sprintf("what was measured of checkpoint %s on set %s", there.Checkpoint, there.Set)}
	}
	if len(lost) == 0 {
		return nil
	}
	return &KeptError{r.Path(file), lost}
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

// lacks says what d has and a gap by o would not.
func (d *GapDoc) lacks(o MeasureOptions) []string {
	out := lessOf(d.Options.Triplets, o.Triplets, "triplets of each set")
	if d.Options.Bootstrap > 0 && o.Bootstrap == 0 {
		out = append(out, "intervals")
	}
	switch had := d.Reference; {
	case had == nil:
	case o.Reference == "":
		out = append(out, "the reference "+had.Run)
	default:
		out = append(out, otherThan(filepath.Clean(had.Run), filepath.Clean(o.Reference), "reference")...)
	}
	if n := o.Limit; n > 0 && (d.Source.Items > n || d.Train.Items > n) {
		if d.Options.Limit == 0 {
			out = append(out, fmt.Sprintf("all images of both sets instead of %d of each", n))
		} else {
			out = append(out, lessOf(d.Options.Limit, n, "images of each set")...)
		}
	}
	return append(out, otherThan(d.Options.Seed, o.Seed, "seed")...)
}

// protectGap refuses to replace a gap.json that has more.
func (r *Run) protectGap(o MeasureOptions, step int) error {
	var d GapDoc
	if !stored(r.Path("gap.json"), &d) || d.Schema != gapSchema {
		return nil
	}
	return r.protect("gap.json", d.Source, o, step, d.lacks(o))
}

// missed names the replacements that are there and in no new plan.
func missed(there, plan []Replacement) []string {
	var kinds, images []string
	lost := 0
	for _, p := range there {
		if !slices.ContainsFunc(plan, func(q Replacement) bool { return q.Kind == p.Kind }) {
			if k := "replacements by " + p.Kind; !slices.Contains(kinds, k) {
				kinds = append(kinds, k)
			}
			continue
		}
		if !slices.Contains(plan, p) {
			lost++
			if i := fmt.Sprint(p.Image); !slices.Contains(images, i) {
				images = append(images, i)
			}
		}
	}
	switch {
	case len(images) > 5:
		kinds = append(kinds, fmt.Sprintf("%d of its %d replacements", lost, len(there)))
	case len(images) > 0:
		kinds = append(kinds, "replaced images "+strings.Join(images, ", "))
	}
	return kinds
}

// protectStability refuses to replace a stability.json that has more; plan is what would
// be replaced.
func (s *study) protectStability(step int, plan []Replacement) error {
	var d StabilityDoc
	if !stored(s.run.Path("stability.json"), &d) || d.Schema != stabilitySchema {
		return nil
	}
	var there []Replacement
	for _, v := range d.Replaced {
		there = append(there, v.Replacement)
	}
	return s.run.protect("stability.json", d.Source, s.o, step, s.lost(d.Source, d.Options.Triplets, d.Options.Seed, there, plan))
}

// protectInfluence is protectStability of influence.json.
func (s *study) protectInfluence(step int, plan []Replacement) error {
	var d InfluenceDoc
	if !stored(s.run.Path("influence.json"), &d) || d.Schema != influenceSchema {
		return nil
	}
	var there []Replacement
	for _, v := range d.Images {
		there = append(there, v.Replacement)
	}
	lost := otherThan(d.Options.Steps, s.o.Steps, "steps")
	if lost == nil { // other steps use other images
		lost = s.lost(d.Source, d.Options.Triplets, d.Options.Seed, there, plan)
	}
	return s.run.protect("influence.json", d.Source, s.o, step, lost)
}

// lost says what a study that is there has and s would not. Another seed has other
// replacements, which need not be named one by one.
func (s *study) lost(from Source, triplets int, seed uint64, there, plan []Replacement) []string {
	out := lessOf(triplets, s.o.Triplets, "triplets")
	out = append(out, lessOf(from.Items, s.judges.ds.Len(), from.Set+" images")...)
	if other := otherThan(seed, s.o.Seed, "seed"); other != nil {
		return append(out, other...)
	}
	return append(out, missed(there, plan)...)
}

// protectOnAverage refuses to replace an on-average.json that has more.
func (s *study) protectOnAverage(step int, plan []ReplacedTriple) error {
	var d OnAverageDoc
	if !stored(s.run.Path("on-average.json"), &d) || d.Schema != onAverageSchema {
		return nil
	}
	lost := otherThan(d.Options.Seed, s.o.Seed, "seed")
	if lost == nil {
		gone := 0
		for _, v := range d.Replaced {
			if !slices.Contains(plan, v.ReplacedTriple) {
				gone++
			}
		}
		if gone > 0 {
			lost = []string{fmt.Sprintf("%d of its %s", gone, counted(len(d.Replaced), "replaced triplet", "replaced triplets"))}
		}
	}
	return s.run.protect("on-average.json", d.Source, s.o, step, lost)
}
