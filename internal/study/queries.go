package study

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"tercet/internal/attack"
	"tercet/internal/metric"
	"tercet/internal/record"
	"tercet/internal/rundir"
)

// perQuery are the values of the queries of one result, by the index of each among the
// images.
type perQuery struct {
	items  []float32
	values []float64
}

// readQueries reads the values of queries that a score names; nil where the result does
// not store them. ERS is made of the ten that it follows from.
func (o *observation) readQueries(source string) (*perQuery, error) {
	if err := o.load(source); err != nil {
		return nil, err
	}
	file, path, _ := strings.Cut(source, "#")
	doc, at := o.files[file], strings.LastIndex(path, ".")
	packed, stored := walk(doc, path[:max(at, 0)])
	if !stored {
		return nil, nil
	}
	n, err := queriesOf(doc)
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w", rundir.ErrRun, filepath.Join(o.run.Dir, file), err)
	}
	read := func(tree any, key string) (values []float32) {
		text, _ := walk(tree, key)
		p, _ := text.(string)
		var bad error
		if values, bad = record.Packed(p).Values(n); bad != nil && err == nil {
			err = fmt.Errorf("%w: %s: %s of each query: %w", rundir.ErrRun, filepath.Join(o.run.Dir, file), key, bad)
		}
		return values
	}
	q := &perQuery{items: read(doc, "items"), values: make([]float64, n)}
	key := path[at+1:]
	of := map[string][]float32{}
	value := func(i int) func(string) float64 {
		return func(key string) float64 {
			if of[key] == nil {
				of[key] = read(packed, key)
			}
			if err != nil {
				return 0
			}
			return float64(of[key][i])
		}
	}
	for i := 0; i < n && err == nil; i++ {
		if key == attack.ERS {
			q.values[i] = attack.RobustnessScore(value(i))
		} else {
			q.values[i] = value(i)(key)
		}
	}
	return q, err
}

// queriesOf is the number of queries of a document.
func queriesOf(doc any) (int, error) {
	if n, ok := walk(doc, "queries"); ok {
		if v, is := n.(float64); is && v >= 1 && v <= 1<<24 {
			return int(v), nil
		}
	}
	items, _ := walk(doc, "source.items")
	excluded, _ := walk(doc, "queries_excluded")
	n, _ := items.(float64)
	less, _ := excluded.(float64)
	if n -= less; n < 1 || n > 1<<24 {
		return 0, fmt.Errorf("it stores values of queries and not how many there are")
	}
	return int(n), nil
}

// lessByQuery is the 95 % interval of the mean of x less y, query by query, by a paired
// bootstrap; nil where they are not of the same queries, or of fewer than two.
func lessByQuery(x, y *perQuery) *[2]float64 {
	if x == nil || y == nil || len(x.values) < 2 || !slices.Equal(x.items, y.items) {
		return nil
	}
	d := make([]float64, len(x.values))
	for i := range d {
		d[i] = x.values[i] - y.values[i]
	}
	interval := metric.Intervals{}.OfMean(d)
	return &interval
}

// less is a score of a row less that of another, seed by seed. Rows that share one seed
// alone are compared query by query, where their results store the values of queries.
func less(a, b *Row, s Score) (Estimate, bool) {
	d := bySeed(a, b, s)
	e, ok := over(d)
	if len(d) != 1 || s.Queries == "" {
		return e, ok
	}
	for seed := range d {
		x, y := a.at(seed), b.at(seed)
		if e.CI95 = lessByQuery(x.queries[s.Name], y.queries[s.Name]); e.CI95 != nil {
			e.Queries = len(x.queries[s.Name].values)
		}
	}
	return e, ok
}

// at is the row's observation of a seed, which it has.
func (row *Row) at(seed uint64) *observation {
	return row.obs[slices.IndexFunc(row.obs, func(o *observation) bool { return o.run.Manifest.Seed == seed })]
}

// byQuery is the note on intervals over queries.
const byQuery = "differences of one seed: 95 % intervals by a paired bootstrap over its queries (1,000 resamples), which do not cover the spread between seeds"

// pairedByQuery says whether a difference has an interval over queries.
func (d *Document) pairedByQuery() bool {
	of := func(scores map[string]Estimate) bool {
		for _, e := range scores {
			if e.Queries > 0 {
				return true
			}
		}
		return false
	}
	return slices.ContainsFunc(d.Contrasts, func(c Difference) bool { return of(c.Scores) }) ||
		slices.ContainsFunc(d.Rows, func(r *Row) bool { return of(r.Differences) })
}
