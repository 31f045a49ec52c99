package generalize

import (
	"tercet/internal/names"
	"tercet/internal/record"
	"tercet/internal/run"
)

// keepMeasured refuses to replace the document of a kind by now, unless o.Force is set.
func keepMeasured[T record.Result[T]](r *run.Run, kind string, now T, o Options, checkpoint string) error {
	if o.Force {
		return nil
	}
	return run.Keep(r, r.Path(names.Result(kind, o.Set, checkpoint)+".json"), now, o.Set, checkpoint)
}

// keepGap refuses to replace a gap.json that has more.
func keepGap(r *run.Run, o GapOptions) error {
	now := record.Gap{Options: record.GapOptions{Triplets: o.Triplets, Bootstrap: o.Bootstrap, Seed: o.Seed, Limit: o.Limit}}
	if o.Reference != "" {
		now.Reference = &record.GapReference{Run: o.Reference}
	}
	return keepMeasured(r, "gap", now, o.Options, o.Checkpoint)
}

// keepStability refuses to replace a stability.json that has more; plan is what would be
// replaced.
func (s *study) keepStability(plan []record.Replacement) error {
	now := record.Stability{Options: record.StabilityOptions{Triplets: s.o.Triplets, Seed: s.o.Seed}, Source: record.Source{Items: s.probe.ds.Len()}}
	for _, p := range plan {
		now.Replaced = append(now.Replaced, record.Replaced{Replacement: p})
	}
	return keepMeasured(s.run, "stability", now, s.o.Options, names.Last)
}

// keepInfluence is keepStability of influence.json.
func (s *study) keepInfluence(plan []record.Replacement, o InfluenceOptions) error {
	now := record.Influence{Options: record.InfluenceOptions{Steps: o.Steps, Triplets: s.o.Triplets, Seed: s.o.Seed}, Source: record.Source{Items: s.probe.ds.Len()}}
	for _, p := range plan {
		now.Images = append(now.Images, record.InfluenceRecord{Replacement: p})
	}
	return keepMeasured(s.run, "influence", now, o.Options, o.Checkpoint)
}

// keepOnAverage refuses to replace an on-average.json that has more.
func (s *study) keepOnAverage(plan []record.ReplacedTriple) error {
	now := record.OnAverage{Options: record.OnAverageOptions{Seed: s.o.Seed}}
	for _, p := range plan {
		now.Replaced = append(now.Replaced, record.ReplacedTripleRecord{ReplacedTriple: p})
	}
	return keepMeasured(s.run, "on-average", now, s.o.Options, names.Last)
}
