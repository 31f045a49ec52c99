package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"tercet/internal/stat"

	"tercet/internal/record"
	"tercet/internal/render"
	"tercet/internal/text"
)

// PairStudy compares runs on pair graphs, schema tercet.pairstudy/1. Errors are
// fractions of the pairs. Which of the lists is there depends on what was asked for.
type PairStudy struct {
	Schema  string        `json:"schema"`
	Rows    []*PairRow    `json:"rows"`
	Peaks   []WidthPeak   `json:"peaks,omitempty"`
	Epochs  []EpochCurve  `json:"epochs,omitempty"`
	Floors  []PairFloor   `json:"floors,omitempty"`
	Line    *FloorLine    `json:"line,omitempty"` // of the floors
	Streams []StreamCurve `json:"streams,omitempty"`
	Claims  []PairClaim   `json:"claims,omitempty"`
	Notes   []string      `json:"notes"`
}

// PairRow is one setting: means over its seeds.
type PairRow struct {
	Data       string              `json:"data"`
	Classes    int                 `json:"classes"`
	Scenario   string              `json:"scenario"`
	Negatives  string              `json:"negatives"`
	Order      string              `json:"order"`
	Online     bool                `json:"online"`
	Noise      string              `json:"noise"`
	Wanted     float64             `json:"wanted"` // effective noise: share of wrong pairs
	Model      string              `json:"model"`
	Width      int                 `json:"width,omitempty"`
	Parameters int                 `json:"parameters"`
	Pairs      int                 `json:"pairs"`
	Steps      int                 `json:"steps"`
	Other      map[string]string   `json:"other,omitempty"` // other config keys in which rows differ
	N          int                 `json:"n"`
	Dirs       []string            `json:"runs"`
	Seeds      []uint64            `json:"seeds"`
	Scores     map[string]Estimate `json:"scores"` // by the keys of pairScores

	runs []*pairRun
}

// The scores of a PairRow.
const (
	pairFound  = "effective"   // share of wrong pairs that was drawn
	trainError = "train_error" // by the labels trained on
	trueError  = "true_error"  // of the same pairs, by true labels
	testError  = "test_error"  // of test images
	floorError = "floor_duplicates"
	aboveFloor = "above_floor" // train_error less floor, run by run
	boundLower = "lower"       // Theorem 1's, E_sim added
	boundUpper = "upper"       // Theorem 1's: E_sim + E_diff
	boundSim   = "e_sim"       // Theorem 1's
)

// pairScores are a run's numbers.
func (p *pairRun) scores() map[string]float64 {
	out := map[string]float64{
		pairFound: p.graph.Effective, trainError: p.result.Train.Error, trueError: p.result.TrainClean.Error,
		floorError: p.result.FloorDuplicates, aboveFloor: p.result.Train.Error - p.result.FloorDuplicates,
	}
	if t := p.result.Test; t != nil {
		out[testError] = t.Error
	}
	if t := p.result.Theorem; t != nil {
		out[boundLower], out[boundUpper], out[boundSim] = t.ESim+t.Lower, t.ESim+t.EDiff, t.ESim
	}
	return out
}

// told are the config keys that columns of their own, or the notes, tell of.
func told(key string) bool {
	section, _, _ := strings.Cut(key, ".")
	return section == "noise" || slices.Contains([]string{"name", "seed", "data.name", "data.classes", "model.name", "model.width", "model.embedding",
		"batch.scenario", "batch.negatives", "batch.order", "batch.redraw", "data.distort.fresh", "train.steps", "train.epochs"}, key)
}

// ComparePairs makes the study of runs. With curves, evaluations during training are
// read, too. Runs that are not finished or have no pairs are named in notes and do not
// count. Errors wrap ErrRun for files that cannot be used; two runs of one setting and
// one seed are an error.
func ComparePairs(runs []*RunDir, curves bool) (*PairStudy, error) {
	s := &PairStudy{Schema: record.PairStudySchema, Rows: []*PairRow{}, Notes: []string{}}
	var none []string
	at := map[string]*PairRow{}
	for _, r := range runs {
		if !r.finished() {
			alone := *r
			alone.Eval, alone.Attack, alone.Cluster = nil, nil, nil
			s.Notes = append(s.Notes, alone.unfinished()[0]+"; it does not count")
			continue
		}
		p, err := readPairRun(r, curves)
		if err != nil {
			return nil, err
		}
		if p == nil {
			none = append(none, r.Dir)
			continue
		}
		id := p.setting()
		if at[id] == nil {
			at[id] = p.row()
			s.Rows = append(s.Rows, at[id])
		}
		if err := at[id].add(p); err != nil {
			return nil, err
		}
	}
	if none != nil {
		s.Notes = append(s.Notes, fmt.Sprintf("no pairs.json in %s; runs with batch.sampler: pair-graph write it at their end", render.Listed(none)))
	}
	for _, row := range s.Rows {
		row.estimate()
	}
	s.others()
	slices.SortStableFunc(s.Rows, comparePairRows)
	s.remark()
	return s, nil
}

// setting is what all runs of a row have in common.
func (p *pairRun) setting() string {
	id := fmt.Sprintf("%d %d", p.Manifest.Data.Train.Classes, p.result.Parameters)
	for _, l := range p.Labels {
		if l.Key != "name" && l.Key != "seed" {
			id += fmt.Sprintf(" %q=%q", l.Key, l.Value)
		}
	}
	return id
}

// row is one without runs.
func (p *pairRun) row() *PairRow {
	return &PairRow{
		Data: p.Manifest.Data.Name, Classes: p.Manifest.Data.Train.Classes,
		Scenario: p.graph.Scenario, Negatives: p.graph.Negatives, Order: p.graph.Order, Online: p.online(),
		Noise: p.noise.Kind, Wanted: p.noise.Effective, Model: p.Manifest.Model.Name, Width: p.width(), Parameters: p.result.Parameters,
		Pairs: p.result.Train.Pairs, Steps: p.result.Steps,
	}
}

func (row *PairRow) add(p *pairRun) error {
	if i := slices.Index(row.Seeds, p.Manifest.Seed); i >= 0 {
		return fmt.Errorf("%s and %s are one setting with one seed, %d: name one of them", row.Dirs[i], p.Dir, p.Manifest.Seed)
	}
	row.N++
	row.runs, row.Dirs, row.Seeds = append(row.runs, p), append(row.Dirs, p.Dir), append(row.Seeds, p.Manifest.Seed)
	return nil
}

func (row *PairRow) estimate() {
	row.Scores = map[string]Estimate{}
	values := map[string][]float64{}
	for _, p := range row.runs {
		for key, v := range p.scores() {
			values[key] = append(values[key], v)
		}
	}
	for key, v := range values {
		row.Scores[key] = estimateOf(v)
	}
}

// mean is that of a score; ok is false where there is none.
func (row *PairRow) mean(key string) (v float64, ok bool) {
	e, ok := row.Scores[key]
	if !ok {
		return 0, false
	}
	return *e.Value, true
}

// others finds config keys without a column of their own in which rows differ.
func (s *PairStudy) others() {
	if len(s.Rows) == 0 {
		return
	}
	first := s.Rows[0].runs[0]
	var keys []string
	for _, row := range s.Rows {
		for _, pair := range [][2]*pairRun{{row.runs[0], first}, {first, row.runs[0]}} {
			for _, l := range pair[0].Labels {
				if v, ok := pair[1].label(l.Key); (!ok || v != l.Value) && !told(l.Key) && !slices.Contains(keys, l.Key) {
					keys = append(keys, l.Key)
				}
			}
		}
	}
	for _, row := range s.Rows {
		for _, k := range keys {
			if v, ok := row.runs[0].label(k); ok {
				if row.Other == nil {
					row.Other = map[string]string{}
				}
				row.Other[k] = v
			}
		}
	}
}

// other is Other in one line, "" where rows differ in nothing else.
func (row *PairRow) other() string {
	var parts []string
	for _, l := range row.runs[0].Labels {
		if v, ok := row.Other[l.Key]; ok {
			parts = append(parts, l.Key+" "+v)
		}
	}
	return strings.Join(parts, ", ")
}

// noiseOrder is that of tables and legends.
var noiseOrder = []string{"none", "pln", "sln", "triplet-flip", "pair-flip", "confusion"}

func comparePairRows(a, b *PairRow) int {
	place := func(row *PairRow) int { return slices.Index(noiseOrder, row.Noise) }
	online := func(row *PairRow) int {
		if row.Online {
			return 1
		}
		return 0
	}
	return cmp.Or(strings.Compare(a.Data, b.Data), strings.Compare(a.Model, b.Model), cmp.Compare(a.Classes, b.Classes),
		strings.Compare(a.Scenario, b.Scenario), -strings.Compare(a.Negatives, b.Negatives), -strings.Compare(a.Order, b.Order),
		online(a)-online(b), place(a)-place(b), cmp.Compare(a.Wanted, b.Wanted), strings.Compare(a.other(), b.other()), cmp.Compare(a.Parameters, b.Parameters))
}

// noiseName is "no noise" or such as "PLN 10 %": the effective noise wanted.
func (row *PairRow) noiseName() string {
	if row.Noise == "none" {
		return "no noise"
	}
	return fmt.Sprintf("%s %.4g %%", strings.ToUpper(row.Noise), 100*row.Wanted)
}

// remark says what makes the comparison less than it seems.
func (s *PairStudy) remark() {
	var runs []*RunDir
	most := 0
	for _, row := range s.Rows {
		most = max(most, row.N)
		for _, p := range row.runs {
			runs = append(runs, p.RunDir)
		}
	}
	var fewer []string
	for _, row := range s.Rows {
		if row.N < most {
			fewer = append(fewer, fmt.Sprintf("%s (%d)", commonName(row.own()), row.N))
		}
	}
	if fewer != nil {
		s.Notes = append(s.Notes, fmt.Sprintf("fewer than %s: %s", text.Plural(most, "seed", "seeds"), render.Listed(fewer)))
	}
	s.Notes = append(s.Notes, differ(runs, "made by different versions", func(r *RunDir) string { return r.Manifest.Version })...)
}

// own are the row's run directories.
func (row *PairRow) own() []*RunDir {
	var out []*RunDir
	for _, p := range row.runs {
		out = append(out, p.RunDir)
	}
	return out
}

// estimateOf is a mean with Student's interval, where there are two values.
func estimateOf(values []float64) Estimate {
	mean, low, high := stat.MeanInterval(values)
	e := Estimate{Value: &mean, N: len(values), cell: render.Number(mean)}
	if len(values) > 1 {
		e.CI95, e.cell = &[2]float64{low, high}, render.Interval(mean, low, high)
	}
	return e
}
