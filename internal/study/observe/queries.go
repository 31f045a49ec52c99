package observe

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

// QueryValues are the values of the queries of one result, by the index of each among the
// images.
type QueryValues struct {
	Values []float64

	items []float32
}

// readQueries reads the values of queries that a score names; nil where the result does
// not store them. ERS is made of the ten that it follows from.
func (o *Observation) readQueries(source string) (*QueryValues, error) {
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
		return nil, fmt.Errorf("%w: %s: %w", rundir.ErrRun, filepath.Join(o.Run.Dir, file), err)
	}
	read := func(tree any, key string) (values []float32) {
		text, _ := walk(tree, key)
		p, _ := text.(string)
		var bad error
		if values, bad = record.Packed(p).Values(n); bad != nil && err == nil {
			err = fmt.Errorf("%w: %s: %s of each query: %w", rundir.ErrRun, filepath.Join(o.Run.Dir, file), key, bad)
		}
		return values
	}
	q := &QueryValues{items: read(doc, "items"), Values: make([]float64, n)}
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
			q.Values[i] = attack.RobustnessScore(value(i))
		} else {
			q.Values[i] = value(i)(key)
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

// LessByQuery is the 95 % interval of the mean of x less y, query by query, by a paired
// bootstrap; nil where they are not of the same queries, or of fewer than two.
func LessByQuery(x, y *QueryValues) *[2]float64 {
	if x == nil || y == nil || len(x.Values) < 2 || !slices.Equal(x.items, y.items) {
		return nil
	}
	d := make([]float64, len(x.Values))
	for i := range d {
		d[i] = x.Values[i] - y.Values[i]
	}
	interval := metric.Intervals{}.OfMean(d)
	return &interval
}
