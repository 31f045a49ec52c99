package robustness

import (
	"fmt"
	"math"
	"slices"

	"tercet/internal/attack"
	"tercet/internal/attack/worst"
	"tercet/internal/record"
	"tercet/internal/run"
)

// publishedAttacks returns the attacks of a run that its worst case is checked against, nil
// where there are none. A file that cannot be read is an error before the work.
func publishedAttacks(r *run.Run, p WorstPlan) (*record.Attack, error) {
	if !p.Options.Battery {
		return nil, nil
	}
	a, err := record.ReadIfThere[record.Attack](run.ResultPath(r.Dir, "attack", p.Set, p.Checkpoint))
	if err != nil {
		return nil, fmt.Errorf("%w; the worst case is checked against it: remove it to do without", err)
	}
	return a, nil
}

// againstPublished is check B20: wcR@1 less the lowest recall@1 of single attacks on the same
// queries in the same or a smaller ball, in the variant that decides as evaluations do. The
// ensemble should be at least as strong. false: there are no such attacks.
func againstPublished(a *record.Attack, w *record.Worst) (worst.Check, bool, error) {
	c := worst.Check{ID: "B20", What: "wcR@1 less the lowest recall@1 in attack.json, same queries", Fail: math.Inf(1)}
	at := slices.IndexFunc(w.Galleries, func(g record.WorstGallery) bool { return g.Gallery == worst.Full })
	if a == nil || at < 0 || w.Options.K > 1 || a.Options.Norm != w.Options.Norm || a.Options.Eps > w.Options.Eps+1e-12 {
		return c, false, nil
	}
	if s, t := a.Source, w.Source; s.Step != t.Step || s.Config != t.Config || s.Fingerprint != t.Fingerprint {
		return c, false, nil
	}
	g := w.Galleries[at]
	found, err := brokenAt(w, g.Broken, g.L2)
	if err != nil {
		return c, false, err
	}
	items, err := a.Items.Values(a.Queries)
	values := a.Values[string(attack.Fixed)]
	if err != nil || values == nil {
		return c, false, nil // of an older version
	}
	lowest, robust, common := 2.0, 0, 0
	for _, key := range attack.KeysWhere(func(s attack.Score) bool { return s.Recall }) {
		list, err := values[key].Values(a.Queries)
		if err != nil {
			continue // not among the attacks
		}
		sum := 0.0
		robust, common = 0, 0
		for i, item := range items {
			norm, is := found[item]
			if !is {
				continue
			}
			common++
			if sum += float64(list[i]); math.IsInf(norm, 1) {
				robust++
			}
		}
		if common > 0 {
			lowest = min(lowest, sum/float64(common))
		}
	}
	if lowest > 1 {
		return c, false, nil
	}
	c.Value = max(0, float64(robust)/float64(common)-lowest)
	return c, true, nil
}
