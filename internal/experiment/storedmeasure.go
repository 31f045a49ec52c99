package experiment

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"tercet/internal/names"
	"tercet/internal/record"
	"tercet/internal/text"
)

// protect is Protect for a measurement that goes to name, unless o.Force is set.
func (r *Run) protect(name string, there record.Source, o MeasureOptions, lost []string) error {
	if o.Force {
		return nil
	}
	return r.Protect(r.Path(name), there, o.Set, o.MeasuredCheckpoint(), lost)
}

// unlessForced is err, which says what cannot be replaced, where o.Force is not set.
func (o *MeasureOptions) unlessForced(err error) error {
	if o.Force {
		return nil
	}
	return err
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

// lacksGap says what d has and a gap by o would not.
func lacksGap(d *record.Gap, o MeasureOptions) []string {
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

// MeasuredCheckpoint is the one that is measured; stability compares ends of trainings.
func (o *MeasureOptions) MeasuredCheckpoint() string {
	if o.Job == MeasureStability {
		return names.Last
	}
	return o.Checkpoint
}

// file is the name of the document of a kind.
func (o *MeasureOptions) file(kind string) string {
	return names.Result(kind, o.Set, o.MeasuredCheckpoint()) + ".json"
}

// resultFile is the name of the document of a kind that is of s.
func resultFile(s record.Source, kind string) string {
	return names.Result(kind, s.Set, s.Checkpoint) + ".json"
}

// protectGap refuses to replace a gap.json that has more.
func (r *Run) protectGap(o MeasureOptions) error {
	name := o.file("gap")
	d, err := readKept[record.Gap](r.Path(name), record.GapSchema)
	if d == nil || o.Force {
		return o.unlessForced(err)
	}
	return r.protect(name, d.Source, o, lacksGap(d, o))
}

// missed names the replacements that are there and in no new plan.
func missed(there, plan []record.Replacement) []string {
	var kinds, images []string
	lost := 0
	for _, p := range there {
		if !slices.ContainsFunc(plan, func(q record.Replacement) bool { return q.Kind == p.Kind }) {
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
func (s *study) protectStability(plan []record.Replacement) error {
	d, err := readKept[record.Stability](s.run.Path(s.o.file("stability")), record.StabilitySchema)
	if d == nil || s.o.Force {
		return s.o.unlessForced(err)
	}
	var there []record.Replacement
	for _, v := range d.Replaced {
		there = append(there, v.Replacement)
	}
	return s.run.protect(s.o.file("stability"), d.Source, s.o, s.lost(d.Source, d.Options.Triplets, d.Options.Seed, there, plan))
}

// protectInfluence is protectStability of influence.json.
func (s *study) protectInfluence(plan []record.Replacement) error {
	d, err := readKept[record.Influence](s.run.Path(s.o.file("influence")), record.InfluenceSchema)
	if d == nil || s.o.Force {
		return s.o.unlessForced(err)
	}
	var there []record.Replacement
	for _, v := range d.Images {
		there = append(there, v.Replacement)
	}
	lost := otherThan(d.Options.Steps, s.o.Steps, "steps")
	if lost == nil { // other steps use other images
		lost = s.lost(d.Source, d.Options.Triplets, d.Options.Seed, there, plan)
	}
	return s.run.protect(s.o.file("influence"), d.Source, s.o, lost)
}

// lost says what a study that is there has and s would not. Another seed has other
// replacements, which need not be named one by one.
func (s *study) lost(from record.Source, triplets int, seed uint64, there, plan []record.Replacement) []string {
	out := lessOf(triplets, s.o.Triplets, "triplets")
	out = append(out, lessOf(from.Items, s.judges.ds.Len(), from.Set+" images")...)
	if other := otherThan(seed, s.o.Seed, "seed"); other != nil {
		return append(out, other...)
	}
	return append(out, missed(there, plan)...)
}

// protectOnAverage refuses to replace an on-average.json that has more.
func (s *study) protectOnAverage(plan []record.ReplacedTriple) error {
	d, err := readKept[record.OnAverage](s.run.Path(s.o.file("on-average")), record.OnAverageSchema)
	if d == nil || s.o.Force {
		return s.o.unlessForced(err)
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
			lost = []string{fmt.Sprintf("%d of its %s", gone, text.Plural(len(d.Replaced), "replaced triplet", "replaced triplets"))}
		}
	}
	return s.run.protect(s.o.file("on-average"), d.Source, s.o, lost)
}
