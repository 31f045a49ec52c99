package cluster

import (
	"context"
	"fmt"
	"math"
	"slices"

	"tercet/internal/engine/kernel"
	"tercet/internal/metric"
	"tercet/internal/par"
	"tercet/internal/rng"
)

// Silhouette returns the mean silhouette coefficient (Rousseeuw 1987) of the n rows of
// x, d numbers each: (b - a)/max(a, b) with a a row's mean Euclidean distance to the
// others of its cluster and b the least of its mean distances to another cluster; 0
// for a row that is alone in its cluster and where a and b are 0. It lies in [-1, 1].
// Rows with negative labels (noise) are left out altogether.
//
// Where sample is positive and less than the number of rows, the mean is over that
// many random rows, each still measured against all others: it costs sample*n*d, and
// its standard error is the deviation of the coefficients over sqrt(sample).
// (scikit-learn's sample_size leaves out the other rows also as neighbors.) With 0
// all rows count. Memory beyond the arguments is three copies of x.
//
// Distances are float32, those of close rows from float64; sums run in float64. The result has the same bits for any number
// of threads.
//
// Errors: sizes that do not fit, NaN or infinity (by row and column), fewer than two
// clusters, or as many as rows, for which the coefficient is not defined; a canceled
// ctx.
func Silhouette(ctx context.Context, x []float32, n, d int, labels []int32, sample int, seed uint64) (float64, error) {
	if err := metric.CheckMatrix(ErrInput, "rows", x, n, d); err != nil {
		return 0, err
	}
	if len(labels) != n {
		return 0, fmt.Errorf("%w: %d labels of %d rows", ErrInput, len(labels), n)
	}
	if sample < 0 {
		return 0, fmt.Errorf("a sample of %d rows", sample)
	}
	s, err := newSilhouette(x, n, d, labels)
	if err != nil {
		return 0, err
	}
	m := s.points.n
	if sample == 0 || sample >= m {
		s.rows = make([]int, m)
		for i := range s.rows {
			s.rows[i] = i
		}
	} else {
		s.rows = draw(rng.New(seed, "cluster/silhouette"), m, sample)
		for i, r := range s.rows {
			s.rows[i] = s.place[r]
		}
	}
	return s.run(ctx)
}

const (
	silhouetteRows = 64   // measured at a time, fewer where clusters are very many
	silhouetteCols = 2048 // distances of each held at a time
	silhouetteSums = 1 << 20
)

// silhouette is the rows in the order of their clusters, so that those of a cluster
// are summed in one go.
type silhouette struct {
	points *points
	start  []int   // (k+1): first row of each cluster
	of     []int32 // cluster of each row
	place  []int   // of each row that counts, in the order given
	rows   []int   // to measure
	value  []float64
	spare  par.Free[silhouetteScratch]
}

type silhouetteScratch struct {
	x    []float32 // (silhouetteRows, d)
	dist []float32 // (silhouetteRows, silhouetteCols)
	sums []float64 // (rows, k)
}

func newSilhouette(x []float32, n, d int, labels []int32) (*silhouette, error) {
	order := make([]int32, 0, n)
	for i, c := range labels {
		if c >= 0 {
			order = append(order, int32(i))
		}
	}
	s := &silhouette{of: make([]int32, len(order)), place: make([]int, len(order))}
	rank := make([]int, n) // of a row among those that count
	for i, row := range order {
		rank[row] = i
	}
	slices.SortStableFunc(order, func(a, b int32) int { return int(labels[a]) - int(labels[b]) })
	sorted := make([]float32, 0, len(order)*d)
	for at, i := range order {
		if at == 0 || labels[i] != labels[order[at-1]] {
			s.start = append(s.start, at)
		}
		s.place[rank[i]] = at
		s.of[at] = int32(len(s.start) - 1)
		sorted = append(sorted, x[int(i)*d:(int(i)+1)*d]...)
	}
	k := len(s.start)
	if k < 2 || k == len(order) {
		return nil, fmt.Errorf("%w: the silhouette of %d clusters of %d rows is not defined: there must be at least 2 clusters and fewer than rows", ErrInput, k, len(order))
	}
	s.start = append(s.start, len(order))
	s.points = newPoints(center(sorted, len(order), d))
	s.points.raw = sorted
	s.value = make([]float64, len(order))
	return s, nil
}

func (s *silhouette) run(ctx context.Context) (float64, error) {
	rows := max(1, min(silhouetteRows, silhouetteSums/len(s.start)))
	const group = 64 // tasks between two looks at ctx
	for lo := 0; lo < len(s.rows); lo += group * rows {
		if err := ctx.Err(); err != nil {
			return 0, fmt.Errorf("the silhouette stopped after %d of %d rows: %w", lo, len(s.rows), err)
		}
		m := min(group*rows, len(s.rows)-lo)
		par.For(m, rows, func(a, b int) { s.measure(s.rows[lo+a : lo+b]) })
	}
	var sum float64
	for _, i := range s.rows {
		sum += s.value[i]
	}
	return sum / float64(len(s.rows)), nil
}

// measure fills value for a few rows.
func (s *silhouette) measure(rows []int) {
	p, k := s.points, len(s.start)-1
	w := s.spare.Get()
	defer s.spare.Put(w)
	if w.dist == nil {
		w.x, w.dist = make([]float32, silhouetteRows*p.d), make([]float32, silhouetteRows*silhouetteCols)
		w.sums = make([]float64, max(1, min(silhouetteRows, silhouetteSums/(k+1)))*k)
	}
	clear(w.sums)
	for i, row := range rows {
		copy(w.x[i*p.d:(i+1)*p.d], p.row(row))
	}
	for lo := 0; lo < p.n; lo += silhouetteCols {
		hi := min(p.n, lo+silhouetteCols)
		p.packed.Dots(len(rows), w.x, p.d, lo, min(lo+silhouetteCols, p.packed.Cols()), 1, w.dist, silhouetteCols)
		for i, row := range rows {
			dist := w.dist[i*silhouetteCols:][:hi-lo]
			p.distances(row, lo, dist)
			for c := s.of[lo]; int(c) < k && s.start[c] < hi; c++ {
				a, b := max(lo, s.start[c]), min(hi, s.start[c+1])
				w.sums[i*k+int(c)] += kernel.Sum(dist[a-lo : b-lo])
			}
		}
	}
	for i, row := range rows {
		s.value[row] = s.coefficient(row, w.sums[i*k:(i+1)*k])
	}
}

// coefficient is that of a row with the given sums of distances to the clusters.
func (s *silhouette) coefficient(row int, sums []float64) float64 {
	own := int(s.of[row])
	size := s.start[own+1] - s.start[own]
	if size == 1 {
		return 0
	}
	a, b := sums[own]/float64(size-1), math.Inf(1)
	for c, v := range sums {
		if c != own {
			b = min(b, v/float64(s.start[c+1]-s.start[c]))
		}
	}
	if most := max(a, b); most > 0 {
		return (b - a) / most
	}
	return 0
}
