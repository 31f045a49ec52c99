package compare

import (
	"fmt"
	"maps"
	"slices"

	"tercet/internal/record"
	"tercet/internal/rundir"
)

// Side is what is compared with another: the runs of one configuration, or one result.
type Side struct {
	Name    string
	Results []*Result
}

// Result is one run, or one evaluation of embeddings.
type Result struct {
	From   string
	Seed   *uint64 // nil where there is none
	Scores record.Scores
	// Setting is what a score was measured with, as rundir.Run.Measured.
	Setting func(score string) []rundir.Label
	Items   int // number of items
	// Rows says that the items are rows of a file, which does not say what they are of.
	Rows bool
	// items and values are those of each query, by score; nil where they are not stored.
	items  []float32
	values map[string][]float32
}

// FromRun is the result of a run that was read with its documents. Errors wrap
// rundir.ErrRun: stored values of queries that cannot be read.
func FromRun(r *rundir.Run) (*Result, error) {
	seed := r.Manifest.Seed
	out := &Result{From: r.Dir, Seed: &seed, Scores: r.Scores(), Setting: r.Measured}
	if r.Eval == nil {
		return out, nil
	}
	out.Items = r.Eval.Source.Items
	return out, out.unpack(r.Eval)
}

// FromEval is the result of the evaluation of embeddings in a file. Errors as of FromRun.
func FromEval(path string, e *record.Eval) (*Result, error) {
	out := &Result{From: path, Scores: rundir.AllScores(e.Evaluated)}
	out.Items, out.Rows = e.Source.Items, e.Source.Run == ""
	out.Setting = func(score string) []rundir.Label {
		v, ok := out.Scores.Get(score)
		if !ok {
			return nil
		}
		return append(rundir.EvalSetting(e, score), rundir.Label{Key: "definition", Value: v.Definition})
	}
	return out, out.unpack(e)
}

// maxQueries bounds what a document is believed.
const maxQueries = 1 << 24

// unpack reads the values of each query.
func (r *Result) unpack(e *record.Eval) error {
	if e.Items == "" {
		return nil
	}
	n := e.Queries()
	if n < 1 || n > maxQueries {
		return fmt.Errorf("%w: %s stores values of queries and not how many there are", rundir.ErrRun, r.From)
	}
	var err error
	if r.items, err = e.Items.Values(n); err != nil {
		return fmt.Errorf("%w: %s: the indices of queries: %w", rundir.ErrRun, r.From, err)
	}
	r.values = map[string][]float32{}
	for _, key := range slices.Sorted(maps.Keys(e.Values)) {
		if r.values[key], err = e.Values[key].Values(n); err != nil {
			return fmt.Errorf("%w: %s: %s of each query: %w", rundir.ErrRun, r.From, key, err)
		}
	}
	return nil
}

// Queries are the indices of the queries among the images, none where a result does not
// store their values.
func (r *Result) Queries() []int {
	out := make([]int, len(r.items))
	for i, item := range r.items {
		out[i] = int(item)
	}
	return out
}

// Value is the score of the i-th query.
func (r *Result) Value(score string, i int) (float64, bool) {
	v := r.values[score]
	if v == nil {
		return 0, false
	}
	return float64(v[i]), true
}
