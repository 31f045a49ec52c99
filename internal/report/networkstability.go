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

// NetworkStabilityResult is what a report needs of stability.json (tercet.stability/1).
type NetworkStabilityResult struct {
	measuredHead
	Loss     string            `json:"loss"`
	Replaced []NetworkReplaced `json:"replaced"`
}

// NetworkReplaced is one retraining with an image replaced; Movement is nil where it was
// lost.
type NetworkReplaced struct {
	Kind     string `json:"kind"`
	Movement *struct {
		LossMax   float64 `json:"loss_max"`
		LossMean  float64 `json:"loss_mean"`
		LossP99   float64 `json:"loss_p99"`
		Neighbors float64 `json:"neighbours_changed"`
		Weights   float64 `json:"weights_share"`
	} `json:"movement"`
}

// NetworkStability sets the stability of networks against the number of training images,
// schema tercet.networkstability/1.
type NetworkStability struct {
	Schema string                   `json:"schema"`
	Curves []*NetworkStabilityCurve `json:"curves"`
	Notes  []string                 `json:"notes"`
}

// NetworkStabilityCurve are the replacements of one kind in runs that differ in their
// training images' number and choice and in the seed alone.
type NetworkStabilityCurve struct {
	Data    string                   `json:"data"`
	Setting string                   `json:"setting,omitempty"` // config keys in which curves differ
	Kind    string                   `json:"kind"`
	Loss    string                   `json:"loss"`
	Points  []*NetworkStabilityPoint `json:"points"` // by rising n
	// Rates are the slopes of log means on log n with intervals over replacements, in the
	// order of movedBy; nil with a reason where there is none.
	Rates     []*measure.Rate `json:"rates"`
	RateNotes []string        `json:"rate_notes"`
}

// NetworkStabilityPoint are the replacements of one n; Means are over them, with
// intervals by Student's t.
type NetworkStabilityPoint struct {
	N        int      `json:"n"` // training images
	Runs     []string `json:"runs"`
	Replaced int      `json:"replaced"`
	// Gamma is the largest change of a loss by any replacement: a lower estimate of the
	// uniform stability.
	Gamma     float64    `json:"gamma"`
	Means     []Estimate `json:"means"` // in the order of movedBy
	Neighbors Estimate   `json:"neighbours_changed"`
	Weights   Estimate   `json:"weights_share"`

	moved []NetworkReplaced
}

// movedBy are what a replacement changes the losses of triplets by.
var movedBy = []struct {
	name string
	of   func(NetworkReplaced) float64
}{
	{"largest change", func(r NetworkReplaced) float64 { return r.Movement.LossMax }},
	{"99 % quantile", func(r NetworkReplaced) float64 { return r.Movement.LossP99 }},
	{"mean change", func(r NetworkReplaced) float64 { return r.Movement.LossMean }},
}

// ofNetwork says whether a file is a stability.json of a network.
func ofNetwork(file string) bool {
	var d NetworkStabilityResult
	found, err := rundir.ReadDocument(file, &d, record.StabilitySchema)
	return found && err == nil
}

// CompareNetworkStability reads stability.json of the runs. What has none, or one of
// other weights or of a metric, is named in notes, as is what was measured unlike the
// others. Where no retraining is left, they are an error that wraps ErrRun.
func CompareNetworkStability(runs []*rundir.Run) (*NetworkStability, error) {
	s := &NetworkStability{Schema: record.NetworkStabilitySchema, Curves: []*NetworkStabilityCurve{}}
	used, results, notes, err := readMeasured(runs, "stability.json", record.StabilitySchema, "stability", func(d *NetworkStabilityResult) *measuredHead { return &d.measuredHead })
	if s.Notes = notes; err != nil {
		return nil, err
	}
	settings := gapSettings(used)
	for i, r := range used {
		lost := 0
		for _, m := range results[i].Replaced {
			if m.Movement == nil {
				lost++
				continue
			}
			s.curve(r.Manifest.Data.Name, settings[i], m.Kind, results[i].Loss).add(r, m)
		}
		if lost > 0 {
			s.Notes = append(s.Notes, fmt.Sprintf("%s: retrainings that were lost and do not count: %d", r.Dir, lost))
		}
	}
	if len(s.Curves) == 0 {
		return nil, nothingMeasured(s.Notes)
	}
	for _, c := range s.Curves {
		c.sumUp()
	}
	return s, nil
}

// curve finds or begins a curve.
func (s *NetworkStability) curve(data, setting, kind, loss string) *NetworkStabilityCurve {
	for _, c := range s.Curves {
		if c.Data == data && c.Setting == setting && c.Kind == kind {
			return c
		}
	}
	c := &NetworkStabilityCurve{Data: data, Setting: setting, Kind: kind, Loss: loss}
	s.Curves = append(s.Curves, c)
	return c
}

func (c *NetworkStabilityCurve) add(r *rundir.Run, m NetworkReplaced) {
	n := r.Manifest.Data.Train.Items
	k := slices.IndexFunc(c.Points, func(p *NetworkStabilityPoint) bool { return p.N == n })
	if k < 0 {
		k, c.Points = len(c.Points), append(c.Points, &NetworkStabilityPoint{N: n})
	}
	p := c.Points[k]
	if !slices.Contains(p.Runs, r.Dir) {
		p.Runs = append(p.Runs, r.Dir)
	}
	p.moved = append(p.moved, m)
}

// values are one number of each replacement.
func (p *NetworkStabilityPoint) values(of func(NetworkReplaced) float64) []float64 {
	out := make([]float64, len(p.moved))
	for i, m := range p.moved {
		out[i] = of(m)
	}
	return out
}

// sumUp takes means and slopes.
func (c *NetworkStabilityCurve) sumUp() {
	slices.SortFunc(c.Points, func(a, b *NetworkStabilityPoint) int { return cmp.Compare(a.N, b.N) })
	var x []float64
	y := make([][][]float64, len(movedBy))
	for _, p := range c.Points {
		x, p.Replaced = append(x, float64(p.N)), len(p.moved)
		for i, q := range movedBy {
			v := p.values(q.of)
			y[i], p.Means = append(y[i], v), append(p.Means, estimateOf(v))
		}
		p.Gamma = slices.Max(p.values(movedBy[0].of))
		p.Neighbors = estimateOf(p.values(func(r NetworkReplaced) float64 { return r.Movement.Neighbors }))
		p.Weights = estimateOf(p.values(func(r NetworkReplaced) float64 { return r.Movement.Weights }))
	}
	for _, v := range y {
		rate, note := gapRate(x, v)
		c.Rates, c.RateNotes = append(c.Rates, rate), append(c.RateNotes, strings.ReplaceAll(note, "repeat", "replacement"))
	}
}
