package compare

import (
	"fmt"
	"math"
	"slices"

	"tercet/internal/metric"
	"tercet/internal/record"
	"tercet/internal/record/printed"
	"tercet/internal/rundir"
	"tercet/internal/stat"
	"tercet/internal/text"
	"tercet/internal/verdict"
)

// Options sets how differences are tested.
type Options struct {
	Resamples int    // of the bootstrap over queries, at least metric.MinResamples
	Flips     int    // random sign flips of the permutation test; 0 for no test, all p values are 0 then
	Seed      uint64 // of both
	// Lower says of which scores lower values are better.
	Lower func(score string) bool
}

// Draws is the usual number of resamples and of sign flips.
const Draws = 10_000

// The verdicts on a side, compared with the first.
const (
	Better       = "better"
	Worse        = "worse"
	Inconclusive = verdict.Inconclusive
)

// Sides compares each side but the first with the first, by each score.
func Sides(sides []Side, scores []string, o Options) *printed.ComparedRuns {
	out := &printed.ComparedRuns{Schema: record.ComparisonSchema, Resamples: o.Resamples, Flips: o.Flips, Seed: o.Seed, Differences: []printed.PairedDifference{}}
	for _, s := range sides {
		side := printed.ComparedSide{Name: s.Name}
		for _, r := range s.Results {
			side.From = append(side.From, r.From)
			if r.Seed != nil {
				side.Seeds = append(side.Seeds, *r.Seed)
			}
		}
		out.Sides = append(out.Sides, side)
		out.Notes = append(out.Notes, s.lacks(scores)...)
	}
	for _, s := range sides[1:] {
		pairs, note := pair(sides[0], s)
		if note != "" {
			out.Notes = append(out.Notes, note)
		}
		if slices.ContainsFunc(pairs.pairs, func(two [2]*Result) bool { return two[0].Rows || two[1].Rows }) {
			out.Notes = append(out.Notes, fmt.Sprintf("%s and %s: a file of embeddings does not say of which items its rows are; they are taken to be the same, in the same order", sides[0].Name, s.Name))
		}
		for _, score := range scores {
			out.Differences = append(out.Differences, pairs.difference(score, s.Name, o))
		}
	}
	return out
}

// lacks says of which scores results of the side have none: these are left out.
func (s Side) lacks(scores []string) []string {
	of, plural := map[string][]string{}, map[string]bool{} // scores by the results that have none
	var order []string
	for _, score := range scores {
		var none []string
		for _, r := range s.Results {
			if _, ok := r.Scores.Get(score); !ok {
				none = append(none, r.From)
			}
		}
		who := text.List(none, "and")
		if len(none) > 1 && len(none) == len(s.Results) {
			who = "all results of " + s.Name
		}
		if none != nil && of[who] == nil {
			order = append(order, who)
		}
		of[who], plural[who] = append(of[who], score), len(none) > 1
	}
	for i, who := range order {
		verb := "have"
		if !plural[who] {
			verb = "has"
		}
		order[i] = fmt.Sprintf("%s %s no %s", who, verb, text.List(of[who], "or"))
	}
	return order
}

// pairing is results of two sides, each with its partner.
type pairing struct {
	pairs [][2]*Result
	seeds bool // those of a pair have the same seed
}

// pair pairs results by seed, or the one result of each side whatever its seed. The note
// says what has no partner.
func pair(a, b Side) (out pairing, note string) {
	if len(a.Results) == 1 && len(b.Results) == 1 {
		x, y := a.Results[0], b.Results[0]
		out.pairs = [][2]*Result{{x, y}}
		if x.Seed != nil && y.Seed != nil && *x.Seed != *y.Seed {
			note = fmt.Sprintf("%s and %s have the seeds %d and %d: what differs may be the seed", a.Name, b.Name, *x.Seed, *y.Seed)
		}
		return out, note
	}
	out.seeds = true
	left := 0
	for _, y := range b.Results {
		i := slices.IndexFunc(a.Results, func(x *Result) bool { return x.Seed != nil && y.Seed != nil && *x.Seed == *y.Seed })
		if i < 0 {
			left++
			continue
		}
		out.pairs = append(out.pairs, [2]*Result{a.Results[i], y})
	}
	if left += len(a.Results) - len(out.pairs); left > 0 {
		note = fmt.Sprintf("%s and %s: %d of %d results have no partner with the same seed, and are left out", a.Name, b.Name, left, len(a.Results)+len(b.Results))
	}
	return out, note
}

// difference is that of one score.
func (p pairing) difference(score, side string, o Options) printed.PairedDifference {
	out := printed.PairedDifference{Score: score, Side: side, Verdict: Inconclusive}
	var pairs [][2]*Result
	var d, first, second []float64
	for _, two := range p.pairs {
		x, okX := two[0].Scores.Get(score)
		y, okY := two[1].Scores.Get(score)
		if !okX || !okY {
			continue
		}
		if out.Unlike = unlike(two, score); out.Unlike != "" {
			return out
		}
		pairs = append(pairs, two)
		d, first, second = append(d, y.Value-x.Value), append(first, x.Value), append(second, y.Value)
	}
	if out.Pairs = len(pairs); out.Pairs == 0 {
		return out
	}
	mean, a, b := stat.Mean(d), stat.Mean(first), stat.Mean(second)
	out.Mean, out.Values = &mean, [2]*float64{&a, &b}
	if p.seeds && len(d) > 1 {
		out.Seeds = overSeeds(d, o)
	}
	if q := queryDifferences(pairs, score); len(q) > 1 {
		out.Queries = &printed.OverQueries{N: len(q), CI95: metric.Intervals{Resamples: o.Resamples, Seed: o.Seed}.OfMean(q), P: flipTest(q, o.Flips, o.Seed)}
	}
	out.Verdict = verdictOn(&out, o.Lower(score))
	return out
}

// unlike says in what a score was not measured alike; "" for nothing. Of rows of a file only
// the number is compared.
func unlike(two [2]*Result, score string) string {
	var settings [][]rundir.Label
	for _, r := range two {
		of := r.Setting(score)
		if two[0].Rows || two[1].Rows {
			of = slices.DeleteFunc(slices.Clone(of), func(l rundir.Label) bool { return l.Key == rundir.ImagesPart })
			of = append(of, rundir.Label{Key: "items", Value: fmt.Sprint(r.Items)})
		}
		settings = append(settings, of)
	}
	_, why := rundir.UnlikeParts(settings, []string{two[0].From, two[1].From})
	return why
}

// overSeeds is what differences seed by seed say of further seeds.
func overSeeds(d []float64, o Options) *printed.OverSeeds {
	out := &printed.OverSeeds{P: flipTest(d, o.Flips, o.Seed)}
	mean, low, high := stat.MeanInterval(d)
	if sd := math.Sqrt(stat.Squares(d, mean) / float64(len(d)-1)); sd > 1e-12*math.Abs(mean) { // else rounding
		out.CI95 = &[2]float64{low, high}
		if n := stat.SampleSize(mean / sd); n > 0 {
			out.Needed = max(n, verdict.EnoughSeeds)
		}
	}
	return out
}

// queryDifferences are the differences of each query, the mean over the pairs; nil unless
// all results store the values of the same queries.
func queryDifferences(pairs [][2]*Result, score string) []float64 {
	items := pairs[0][0].items
	var d []float64
	for _, two := range pairs {
		x, y := two[0].values[score], two[1].values[score]
		if x == nil || y == nil || !slices.Equal(two[0].items, items) || !slices.Equal(two[1].items, items) {
			return nil
		}
		if d == nil {
			d = make([]float64, len(x))
		}
		for i := range d {
			d[i] += (float64(y[i]) - float64(x[i])) / float64(len(pairs))
		}
	}
	return d
}

// verdictOn is the verdict on a side.
func verdictOn(d *printed.PairedDifference, lower bool) string {
	var ci *[2]float64
	if d.Seeds == nil && d.Queries != nil {
		ci = &d.Queries.CI95
	}
	if d.Seeds != nil && d.Pairs >= verdict.EnoughSeeds {
		ci = d.Seeds.CI95
	}
	higher, less := Better, Worse
	if lower {
		higher, less = Worse, Better
	}
	switch {
	case verdict.Above(0).Of(ci) == verdict.Supported:
		return higher
	case verdict.Below(0).Of(ci) == verdict.Supported:
		return less
	}
	return Inconclusive
}
