package factored

import (
	"fmt"
	"math"
	"slices"

	"tercet/internal/cluster/multicut"
	"tercet/internal/engine/kernel"
	"tercet/internal/metric"
	"tercet/internal/par"
)

// Graph is the complete graph on n points whose costs are linear in the squared
// distance,
//
//	w_ij = s (tau^2 - |x_i - x_j|^2),
//
// so that pairs nearer than tau belong together. No cost is stored: with the size
// n_A, the sum S_A of the points and the sum Q_A of their squared norms, the cost
// between two clusters is
//
//	w(A, B) = s (n_A n_B tau^2 - n_B Q_A - n_A Q_B + 2 S_A.S_B)
//
// and that within one is s (n_A (n_A-1) tau^2 / 2 - n_A Q_A + |S_A|^2): moves, joins,
// splits and the objective are exact on all n(n-1)/2 edges at O(d) each.
//
// Memory is that of the points, which it keeps, one centered copy of them and 8 bytes
// a point.
type Graph struct {
	n, d       int
	x          []float32 // (n, d) the caller's
	mean       []float64 // (d) of x
	tau, scale float64

	// The solver's own view: y = zoom (x - mean), so that float32 keeps the digits
	// that distances need, with t = (zoom tau)^2 and costs in units of s/zoom^2.
	y      []float32
	square []float64 // |y_i|^2
	most   float64   // largest of square
	zoom   float64   // a power of two
	t      float64
	total  float64 // of all costs
}

// New returns the graph of the n rows of x, d numbers each, with threshold
// tau > 0 on distances and slope scale > 0. It keeps x, which must not change.
// Errors: sizes that do not fit, NaN or infinity (by row and column), a tau or scale
// that is not positive, and costs whose sum is beyond float64.
func New(x []float32, n, d int, tau, scale float64) (*Graph, error) {
	if err := metric.CheckMatrix(multicut.ErrInput, "points", x, n, d); err != nil {
		return nil, err
	}
	switch {
	case !(tau > 0) || math.IsInf(tau, 1):
		return nil, fmt.Errorf("%w: a threshold of %v: it is a distance, so it must be above 0 and finite", multicut.ErrInput, tau)
	case !(scale > 0) || math.IsInf(scale, 1):
		return nil, fmt.Errorf("%w: a scale of %v: it must be above 0 and finite", multicut.ErrInput, scale)
	}
	f := &Graph{n: n, d: d, x: x, mean: kernel.MeanRow(x, n, d), tau: tau, scale: scale,
		y: make([]float32, n*d), square: make([]float64, n), zoom: 1}
	if most := 2 * float64(kernel.MaxAbs(x)); most > 0 {
		_, e := math.Frexp(most)
		f.zoom = math.Ldexp(1, -e)
	}
	par.Each(n, task, func(i int) {
		kernel.ShiftRow(f.point(i), f.mean, f.zoom, f.row(int32(i)))
		f.square[i] = kernel.SumSquares(f.row(int32(i)))
	})
	f.most = slices.Max(f.square)
	f.t = f.zoom * tau * f.zoom * tau
	one := make([]int32, n)
	f.total = f.within(one)
	if unit := scale / f.zoom / f.zoom; f.total-f.total != 0 || unit-unit != 0 || f.t-f.t != 0 {
		return nil, fmt.Errorf("%w: costs of %g (%g^2 - d^2) over %d points are too large for float64", multicut.ErrInput, scale, tau, n)
	}
	return f, nil
}

// task is the number of points that one task takes where each costs little.
const task = 512

func (f *Graph) point(i int) []float32 { return f.x[i*f.d : (i+1)*f.d] }

func (f *Graph) row(i int32) []float32 { return f.y[int(i)*f.d : (int(i)+1)*f.d] }

// Nodes implements Costs.
func (f *Graph) Nodes() int { return f.n }

// Dimensions returns the length d of the points.
func (f *Graph) Dimensions() int { return f.d }

// Threshold returns tau, the distance at which a pair costs nothing.
func (f *Graph) Threshold() float64 { return f.tau }

// Scale returns s, the slope of the costs in the squared distance.
func (f *Graph) Scale() float64 { return f.scale }

// Cost returns w_ij, computed in float64.
func (f *Graph) Cost(i, j int32) float64 {
	return f.scale * (float64(f.tau*f.tau) - kernel.SquaredDistance(f.point(int(i)), f.point(int(j))))
}

// Each implements Costs. It takes O(n^2 d) time.
func (f *Graph) Each(do func(i, j int32, cost float64)) {
	for i := range int32(f.n) {
		for j := i + 1; int(j) < f.n; j++ {
			do(i, j, f.Cost(i, j))
		}
	}
}

// Total returns the sum of all costs: the objective of n clusters of one node.
func (f *Graph) Total() float64 { return f.total }

// Objective implements Costs in O(n d) time and O(n) memory, for any labels, those
// of the ground truth or of k-means as well as the solver's. Its sums run in
// float64, about the points' mean.
func (f *Graph) Objective(labels []int32) float64 { return f.total - f.within(labels) }

// within returns the sum of the costs of pairs of one label. Each task reads the points in
// their order, for some of the clusters: they may be in a file that memory does not hold.
func (f *Graph) within(labels []int32) float64 {
	number, sizes := number(labels)
	costs := make([]float64, len(sizes))
	ends := f.shares(sizes)
	par.Each(len(ends), 1, func(task int) {
		first := int32(0)
		if task > 0 {
			first = ends[task-1]
		}
		f.withinSome(number, first, sizes[first:ends[task]], costs[first:])
	})
	all := 0.0
	for _, v := range costs {
		all += v
	}
	return all
}

// shareNumbers is how many sums of coordinates a task of within has at most, but for those of
// one cluster: 64 MiB.
const shareNumbers = 8 << 20

// shares cuts the clusters into runs for the tasks of within, and returns where each ends. The
// cuts decide no bit.
func (f *Graph) shares(sizes []int) (ends []int32) {
	nodes, numbers := 0, 0
	for k, n := range sizes {
		if k > 0 && n > 1 && (nodes >= max(4096, f.n/par.Threads()) || numbers+f.d > shareNumbers) {
			ends = append(ends, int32(k))
			nodes, numbers = 0, 0
		}
		if nodes += n; n > 1 {
			numbers += f.d
		}
	}
	return append(ends, int32(len(sizes)))
}

// withinSome sets costs to the costs within the clusters from number first on, as many as
// sizes has. A cluster of one node costs nothing.
func (f *Graph) withinSome(number []int32, first int32, sizes []int, costs []float64) {
	place, several := make([]int32, len(sizes)), 0
	for k, n := range sizes {
		if place[k] = int32(several); n > 1 {
			several++
		}
	}
	if several == 0 {
		return
	}
	sums, squares := make([]float64, several*f.d), make([]float64, several)
	for i, k := range number {
		if k -= first; k < 0 || int(k) >= len(sizes) || sizes[k] == 1 {
			continue
		}
		at := int(place[k])
		sum, square := sums[at*f.d:][:f.d], squares[at]
		for j, v := range f.point(i) {
			e := float64(v) - f.mean[j]
			sum[j] += e
			square += float64(e * e)
		}
		squares[at] = square
	}
	for k, size := range sizes {
		if size == 1 {
			continue
		}
		at, norm := int(place[k]), 0.0
		for _, v := range sums[at*f.d:][:f.d] {
			norm += float64(v * v)
		}
		n := float64(size)
		// n*squares - norm is n times the scatter about the cluster's mean.
		costs[k] = f.scale * (float64(f.tau*f.tau*n*(n-1)/2) - max(0, float64(n*squares[at])-norm))
	}
}

// number numbers labels, any int32, by their first nodes, and counts them.
func number(labels []int32) (number []int32, sizes []int) {
	number = make([]int32, len(labels))
	seen := map[int32]int32{}
	for i, l := range labels {
		if i > 0 && l == labels[i-1] {
			number[i] = number[i-1]
		} else if k, ok := seen[l]; ok {
			number[i] = k
		} else {
			number[i] = int32(len(sizes))
			seen[l] = number[i]
			sizes = append(sizes, 0)
		}
		sizes[number[i]]++
	}
	return number, sizes
}

// Dense returns the graph with all its costs, n^2 numbers of 4 bytes, computed from
// float64 distances. limit is the most bytes they may take; what needs more is an
// error.
func (f *Graph) Dense(limit int64) (*multicut.Dense, error) {
	n := f.n
	if err := f.fits(limit); err != nil {
		return nil, err
	}
	g := f.matrix(1)
	for i, c := range g.Cost {
		if c-c != 0 {
			return nil, fmt.Errorf("%w: the cost of nodes %d and %d is beyond float32: lower the scale", multicut.ErrInput, i/n, i%n)
		}
	}
	return g, nil
}

// fits returns an error where all costs take more than limit bytes.
func (f *Graph) fits(limit int64) error {
	if bytes := 4 * float64(f.n) * float64(f.n); bytes > float64(limit) {
		return fmt.Errorf("%w: all costs of %d points take %.3g GB, over the limit of %.3g: the factored solver needs no matrix", multicut.ErrInput, f.n, bytes/1e9, float64(limit)/1e9)
	}
	return nil
}

// matrix returns all costs, times factor.
func (f *Graph) matrix(factor float64) *multicut.Dense {
	n := f.n
	g := &multicut.Dense{N: n, Cost: make([]float32, n*n)}
	par.Each(n, 8, func(i int) {
		for j := range n {
			if j != i {
				g.Cost[i*n+j] = float32(factor * f.Cost(int32(i), int32(j)))
			}
		}
	})
	return g
}
