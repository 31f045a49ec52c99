package factored

import (
	"fmt"
	"math"

	"tercet/internal/cluster/multicut"
	"tercet/internal/engine/kernel"
	"tercet/internal/par"
)

// Assigner puts new points into the clusters of an existing clustering of a Factored
// graph: each into the one whose nodes it costs most with in sum, if that is above 0.
// That is the exact best place of one more node. It holds the sums of the clusters,
// O(K d) memory, and no points; it may be used by several goroutines.
type Assigner struct {
	f      Graph   // without points
	label  []int32 // (k) of each cluster
	size   []float64
	sum    []float64 // (k, d)
	square []float64
	terms  []float32 // (d+2, k) as in search, by column
	norm   []float64 // (k) length of each column's term
}

// Assigner returns the assigner of a clustering, n labels as Solve gives them. Nodes
// of negative labels belong to no cluster. It panics where labels are not n.
func (f *Graph) Assigner(labels []int32) *Assigner {
	if len(labels) != f.n {
		panic(fmt.Sprintf("multicut: %d labels for %d points", len(labels), f.n))
	}
	number, sizes := number(labels)
	a := &Assigner{f: *f}
	a.f.x, a.f.y, a.f.square = nil, nil, nil
	place := make([]int32, len(sizes))
	for c := range place {
		place[c] = -1
	}
	for i, c := range number {
		if labels[i] >= 0 && place[c] < 0 {
			place[c] = int32(len(a.label))
			a.label = append(a.label, labels[i])
		}
	}
	k, d := len(a.label), f.d
	a.size, a.sum, a.square = make([]float64, k), make([]float64, k*d), make([]float64, k)
	for i, c := range number {
		if p := int(place[c]); p >= 0 {
			a.size[p]++
			a.square[p] += f.square[i]
			kernel.AddRow(a.sum[p*d:(p+1)*d], f.row(int32(i)))
		}
	}
	a.terms, a.norm = make([]float32, (d+2)*k), make([]float64, k)
	for p := range k {
		length := float64(a.size[p]*a.size[p]) + float64(a.square[p]*a.square[p])
		for j, v := range a.sum[p*d : (p+1)*d] {
			a.terms[j*k+p] = float32(2 * v)
			length += float64(4 * v * v)
		}
		a.terms[d*k+p], a.terms[(d+1)*k+p] = float32(a.size[p]), float32(a.square[p])
		a.norm[p] = math.Sqrt(length)
	}
	return a
}

// Clusters returns the number of clusters.
func (a *Assigner) Clusters() int { return len(a.label) }

// assignRows is the number of points that a task takes.
const assignRows = 64

// Assign returns for the m rows of y, d numbers each, the label of the cluster that
// each had best join, the first of equals, and by how much that lowers the objective:
// the sum of its costs with the cluster's nodes. Where no sum is above 0 the label is
// -1, a cluster of its own, and the gain 0. Points do not see each other. It takes
// O(m K d) time, as a product in float32; what that leaves open is decided in
// float64. Errors: sizes that do not fit, NaN or infinity (by row and column).
func (a *Assigner) Assign(y []float32, m int) (labels []int32, gain []float64, err error) {
	d := a.f.d
	if m < 0 || len(y) != m*d {
		return nil, nil, fmt.Errorf("%w: %d points of %d dimensions, as the clusters have, need %d numbers, got %d", multicut.ErrInput, m, d, m*d, len(y))
	}
	if i, ok := kernel.AllFinite(y); !ok {
		return nil, nil, fmt.Errorf("%w: row %d column %d is %v", multicut.ErrInput, i/d, i%d, y[i])
	}
	labels, gain = make([]int32, m), make([]float64, m)
	par.For(m, assignRows, func(lo, hi int) {
		rows, scores := make([]float32, (hi-lo)*(d+2)), make([]float32, (hi-lo)*len(a.label))
		point := make([]float64, d)
		square := make([]float64, hi-lo)
		for i := lo; i < hi; i++ {
			row := rows[(i-lo)*(d+2):][:d+2]
			square[i-lo] = a.center(y[i*d:(i+1)*d], point)
			for j, v := range point {
				row[j] = float32(v)
			}
			row[d], row[d+1] = float32(a.f.t-square[i-lo]), -1
		}
		if k := len(a.label); k > 0 {
			kernel.Gemm(false, false, hi-lo, k, d+2, 1, rows, d+2, a.terms, k, 0, scores, k)
		}
		for i := lo; i < hi; i++ {
			a.center(y[i*d:(i+1)*d], point)
			labels[i], gain[i] = a.choose(point, square[i-lo], scores[(i-lo)*len(a.label):])
		}
	})
	return labels, gain, nil
}

// center writes zoom (x - mean) and returns its squared norm.
func (a *Assigner) center(x []float32, out []float64) float64 {
	q := 0.0
	for j, v := range x {
		e := (float64(v) - a.f.mean[j]) * a.f.zoom
		out[j] = e
		q += float64(e * e)
	}
	return q
}

// choose returns the label of the best cluster of a centered point and what it gains.
func (a *Assigner) choose(point []float64, q float64, scores []float32) (int32, float64) {
	d := a.f.d
	// Rounded sums are wrong by at most this much for each unit of a term's length.
	wrong := (kernel.DotError(d+2) + 4*0x1p-24) * math.Sqrt(q+float64((a.f.t-q)*(a.f.t-q))+1)
	floor := 0.0
	for p, n := range a.norm {
		if v := float64(scores[p]); v-v == 0 {
			floor = max(floor, v-float64(wrong*n))
		}
	}
	best, most := int32(-1), 0.0
	for p, n := range a.norm {
		if v := float64(scores[p]) + float64(wrong*n); v < floor {
			continue
		}
		dot := 0.0
		for j, v := range a.sum[p*d : (p+1)*d] {
			dot += float64(v * point[j])
		}
		if s := float64(a.size[p]*(a.f.t-q)) - a.square[p] + float64(2*dot); s > most {
			best, most = a.label[p], s
		}
	}
	return best, most * a.f.scale / a.f.zoom / a.f.zoom
}
