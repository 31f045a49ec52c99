package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"tercet/internal/record"
	"tercet/internal/rundir"
	"tercet/internal/theory/measure"
)

// GapResult is what a report needs of gap.json (tercet.gap/1).
type GapResult struct {
	measuredHead
	Loss struct {
		Name string `json:"name"`
		gapSides
	} `json:"loss"`
	Error gapSides   `json:"triplet_error"`
	Train record.Set `json:"train"`
	Bound *struct {
		Delta float64     `json:"delta"`
		Least gapBoundAt  `json:"without_gamma"`
		At    *gapBoundAt `json:"with_gamma"`
	} `json:"bound"`
}

type gapSides struct {
	Train struct{ Value float64 } `json:"train"`
	Test  struct{ Value float64 } `json:"test"`
	Gap   struct{ Value float64 } `json:"gap"`
	// Controlled is nil where no reference was measured.
	Controlled *struct{ Value float64 } `json:"controlled"`
}

type gapBoundAt struct {
	Value   float64 `json:"value"`
	Vacuous bool    `json:"vacuous"`
}

// GapStudy sets gaps against the number of training images, schema tercet.gapstudy/1.
type GapStudy struct {
	Schema string      `json:"schema"`
	Curves []*GapCurve `json:"curves"`
	Notes  []string    `json:"notes"`
}

// GapCurve are runs that differ in their training images' number and choice and in the
// seed alone.
type GapCurve struct {
	Data    string      `json:"data"`
	Setting string      `json:"setting,omitempty"` // config keys in which curves differ
	Loss    string      `json:"loss"`
	Points  []*GapPoint `json:"points"` // by rising n
	// Controlled says that the slopes are of controlled gaps: each run has one. Partly
	// is how many runs have one where not all do.
	Controlled bool `json:"controlled,omitempty"`
	Partly     int  `json:"partly_controlled,omitempty"`
	// Rates are the slopes of log mean gap on log n, with intervals over repeats; nil
	// with a reason where there is none.
	LossRate      *measure.Rate `json:"loss_rate,omitempty"`
	LossRateNote  string        `json:"loss_rate_note,omitempty"`
	ErrorRate     *measure.Rate `json:"error_rate,omitempty"`
	ErrorRateNote string        `json:"error_rate_note,omitempty"`
}

// GapPoint are the runs of one n.
type GapPoint struct {
	N     int      `json:"n"` // training images
	Runs  []string `json:"runs"`
	Loss  GapMeans `json:"loss"`
	Error GapMeans `json:"triplet_error"`
	// Bound is that of Theorem 1 at gamma 0, BoundAt at the gamma that was measured, as
	// means; Vacuous says that each run's is, at gamma 0.
	Bound   *Estimate `json:"bound_without_gamma,omitempty"`
	BoundAt *Estimate `json:"bound_with_gamma,omitempty"`
	Vacuous bool      `json:"vacuous,omitempty"`

	results []*GapResult
}

// GapMeans are means over runs, with intervals by Student's t.
type GapMeans struct {
	Train Estimate `json:"train"`
	Test  Estimate `json:"test"`
	Gap   Estimate `json:"gap"`
	// Controlled is nil unless each of the runs has one.
	Controlled *Estimate `json:"controlled,omitempty"`

	gaps, controlled []float64
}

// slope returns what the rate is of: controlled gaps or plain ones.
func (m *GapMeans) slope(controlled bool) (Estimate, []float64) {
	if controlled {
		return *m.Controlled, m.controlled
	}
	return m.Gap, m.gaps
}

// gapRepeats are config keys in which repeats of a setting differ.
var gapRepeats = []string{"name", "seed", "data.limit_per_class", "data.skip_per_class", "data.split.seed"}

// CompareGaps reads gap.json of the runs. What has none, or one of other weights, is
// named in notes, as is what was measured unlike the others. Where no run is left, they
// are an error that wraps ErrRun.
func CompareGaps(runs []*rundir.Run) (*GapStudy, error) {
	s := &GapStudy{Schema: record.GapStudySchema, Curves: []*GapCurve{}}
	used, results, notes, err := readMeasured(runs, "gap.json", record.GapSchema, "gap", func(g *GapResult) *measuredHead { return &g.measuredHead })
	if s.Notes = notes; err != nil {
		return nil, err
	}
	at := map[string]*GapResult{}
	for i, r := range used {
		at[r.Dir] = results[i]
	}
	s.Notes = append(s.Notes, rundir.Differ(used, "bounds hold with different probabilities 1 - delta", func(r *rundir.Run) string {
		if b := at[r.Dir].Bound; b != nil {
			return fmt.Sprintf("delta %.4g", b.Delta)
		}
		return ""
	})...)
	settings := gapSettings(used)
	curves := map[string]*GapCurve{}
	for i, r := range used {
		g := results[i]
		id := fmt.Sprintf("%q %q", r.Manifest.Data.Name, settings[i])
		c := curves[id]
		if c == nil {
			c = &GapCurve{Data: r.Manifest.Data.Name, Setting: settings[i], Loss: g.Loss.Name}
			curves[id] = c
			s.Curves = append(s.Curves, c)
		}
		c.add(r, g)
	}
	for _, c := range s.Curves {
		slices.SortFunc(c.Points, func(a, b *GapPoint) int { return cmp.Compare(a.N, b.N) })
		c.sumUp()
	}
	return s, nil
}

// gapSettings are the config keys in which runs differ, but for those of repeats and of
// sizes, as words.
func gapSettings(runs []*rundir.Run) []string {
	out := make([]string, len(runs))
	if len(runs) == 0 {
		return out
	}
	var keys []string
	for _, r := range runs {
		for _, l := range r.Labels {
			if !slices.Contains(keys, l.Key) && !slices.Contains(gapRepeats, l.Key) {
				keys = append(keys, l.Key)
			}
		}
	}
	for _, k := range keys {
		first, had := runs[0].Label(k)
		if !slices.ContainsFunc(runs, func(r *rundir.Run) bool { v, ok := r.Label(k); return v != first || ok != had }) {
			continue
		}
		for i, r := range runs {
			if v, ok := r.Label(k); ok {
				out[i] = strings.TrimPrefix(out[i]+", "+k+" "+v, ", ")
			}
		}
	}
	return out
}

func (c *GapCurve) add(r *rundir.Run, g *GapResult) {
	n := g.Train.Items
	k := slices.IndexFunc(c.Points, func(p *GapPoint) bool { return p.N == n })
	if k < 0 {
		k, c.Points = len(c.Points), append(c.Points, &GapPoint{N: n})
	}
	p := c.Points[k]
	p.Runs, p.results = append(p.Runs, r.Dir), append(p.results, g)
}

// sumUp takes means and slopes.
func (c *GapCurve) sumUp() {
	var x []float64
	runs := 0
	for _, p := range c.Points {
		runs += len(p.results)
		for _, g := range p.results {
			if g.Loss.Controlled != nil && g.Error.Controlled != nil {
				c.Partly++
			}
		}
		p.Loss = gapMeans(p.results, func(g *GapResult) gapSides { return g.Loss.gapSides })
		p.Error = gapMeans(p.results, func(g *GapResult) gapSides { return g.Error })
		x = append(x, float64(p.N))
		var least, at []float64
		p.Vacuous = true
		for _, g := range p.results {
			if g.Bound == nil {
				p.Vacuous = false
				continue
			}
			least, p.Vacuous = append(least, g.Bound.Least.Value), p.Vacuous && g.Bound.Least.Vacuous
			if g.Bound.At != nil {
				at = append(at, g.Bound.At.Value)
			}
		}
		if least != nil {
			e := estimateOf(least)
			p.Bound = &e
		}
		if at != nil {
			e := estimateOf(at)
			p.BoundAt = &e
		}
	}
	if c.Partly == runs {
		c.Controlled, c.Partly = true, 0
	}
	var losses, errors [][]float64
	for _, p := range c.Points {
		_, a := p.Loss.slope(c.Controlled)
		_, b := p.Error.slope(c.Controlled)
		losses, errors = append(losses, a), append(errors, b)
	}
	c.LossRate, c.LossRateNote = gapRate(x, losses)
	c.ErrorRate, c.ErrorRateNote = gapRate(x, errors)
}

func gapMeans(results []*GapResult, of func(*GapResult) gapSides) GapMeans {
	var train, test []float64
	var m GapMeans
	for _, g := range results {
		s := of(g)
		train, test, m.gaps = append(train, s.Train.Value), append(test, s.Test.Value), append(m.gaps, s.Gap.Value)
		if s.Controlled != nil {
			m.controlled = append(m.controlled, s.Controlled.Value)
		}
	}
	if len(m.controlled) == len(results) {
		e := estimateOf(m.controlled)
		m.Controlled = &e
	}
	m.Train, m.Test, m.Gap = estimateOf(train), estimateOf(test), estimateOf(m.gaps)
	return m
}

// gapRate fits the slope, or says why there is none.
func gapRate(x []float64, gaps [][]float64) (*measure.Rate, string) {
	if len(x) < 2 {
		return nil, "a slope needs two numbers of training images or more"
	}
	r, err := measure.Slope(x, gaps, measure.Resamples, 0)
	switch {
	case err != nil:
		return nil, strings.TrimPrefix(err.Error(), measure.ErrInput.Error()+": ")
	case r.CI95 == nil && r.Resamples == 0:
		return &r, "no interval: a size has one repeat"
	case r.CI95 == nil:
		return &r, "no interval: means of resamples are not positive; more repeats are needed"
	}
	return &r, ""
}
