package cluster

import (
	"context"
	"math"

	"tercet/internal/engine/kernel"
	"tercet/internal/par"
)

const (
	keyBudget   = 64 << 20 // bytes of distances held at a time
	maxKeyRows  = 2048
	assignChunk = 16
)

// lloyd holds the state of one start of k-means on centred data.
type lloyd struct {
	data   *centred
	k      int
	centre []float64 // (k, d)
	single []float32 // centre in float32
	norm   []float32 // ||single||^2
	length []float64 // ||x|| of each row
	labels []int32
	last   []int32
	dist   []float64 // squared distance of each row to its centre, after measure
	size   []int

	keys    []float32 // (rows, k)
	lo      int       // first row of keys
	longest float64   // largest ||centre||
	sums    clusterSums
}

func newLloyd(data *centred, k int) *lloyd {
	n, d := data.n, data.d
	l := &lloyd{data: data, k: k, centre: make([]float64, k*d), single: make([]float32, k*d),
		norm: make([]float32, k), length: make([]float64, n), labels: make([]int32, n), last: make([]int32, n),
		dist: make([]float64, n), size: make([]int, k)}
	rows := min(n, max(assignChunk, min(maxKeyRows, keyBudget/4/k)))
	l.keys = make([]float32, rows*k)
	for i := range n {
		l.length[i] = math.Sqrt(kernel.SumSquares(data.row(i)))
	}
	l.sums.init(data, k)
	return l
}

func (l *lloyd) setCentre(c, row int) {
	for j, v := range l.data.row(row) {
		l.centre[c*l.data.d+j] = float64(v)
	}
}

// iterate runs Lloyd's algorithm from the centres at hand.
func (l *lloyd) iterate(ctx context.Context, most int, tolerance float64, progress func(int)) (iterations int, converged bool, err error) {
	for iterations < most {
		if err := l.assign(ctx); err != nil {
			return 0, false, err
		}
		iterations++
		same := iterations > 1
		for i, v := range l.labels {
			if v != l.last[i] {
				same = false
				break
			}
		}
		// Labels that repeat belong to the centres at hand: both are final.
		if same && !l.hasEmpty() {
			return iterations, true, nil
		}
		shift := l.move()
		progress(iterations)
		if same && shift == 0 || shift <= tolerance {
			converged = true
			break
		}
		copy(l.last, l.labels)
	}
	return iterations, converged, l.assign(ctx)
}

func (l *lloyd) hasEmpty() bool {
	for _, s := range l.size {
		if s == 0 {
			return true
		}
	}
	return false
}

// assign gives each row its nearest centre.
func (l *lloyd) assign(ctx context.Context) error {
	d := l.data.d
	l.longest = 0
	for c := range l.k {
		var s float64
		for j, v := range l.centre[c*d : (c+1)*d] {
			l.single[c*d+j] = float32(v)
			s += v * v
		}
		l.norm[c] = float32(s)
		l.longest = max(l.longest, math.Sqrt(s))
	}
	rows := len(l.keys) / l.k
	for l.lo = 0; l.lo < l.data.n; l.lo += rows {
		if err := ctx.Err(); err != nil {
			return err
		}
		b := min(rows, l.data.n-l.lo)
		for i := range b {
			copy(l.keys[i*l.k:(i+1)*l.k], l.norm)
		}
		kernel.Gemm(false, true, b, l.k, d, -2, l.data.x[l.lo*d:], d, l.single, d, 1, l.keys, l.k)
		par.Do(b, assignChunk, l)
	}
	clear(l.size)
	for _, c := range l.labels {
		l.size[c]++
	}
	return nil
}

// Run picks the centres of rows [lo, hi) of the block of keys.
func (l *lloyd) Run(lo, hi int) {
	for b := lo; b < hi; b++ {
		i := l.lo + b
		keys := l.keys[b*l.k : (b+1)*l.k]
		least, at := keys[0], 0
		for c, v := range keys {
			if v < least {
				least, at = v, c
			}
		}
		limit := float64(least) + 2*l.errorBound(l.length[i])
		best := -1.0 // squared distance to centre at, once another is as near
		for c, v := range keys {
			if float64(v) > limit || c == at {
				continue
			}
			if best < 0 {
				best = l.exact(i, at)
			}
			if e := l.exact(i, c); e < best || e == best && c < at {
				best, at = e, c
			}
		}
		l.labels[i] = int32(at)
	}
}

// errorBound bounds |key - (||c||^2 - 2 x.c)| for a row of the given length: a
// float32 sum of d products in any order, centre and norm rounded to float32,
// and the two last additions (Higham, Accuracy and Stability, 2002, eq. 3.5).
func (l *lloyd) errorBound(length float64) float64 {
	const u = 0x1p-24
	du := float64(l.data.d+4) * u
	return 1.01*du/(1-min(du, 0.5))*2*length*l.longest + 4*u*(l.longest*l.longest+2*length*l.longest) + 0x1p-120
}

// exact returns the squared distance of row i to centre c, in float64.
func (l *lloyd) exact(i, c int) float64 {
	centre := l.centre[c*l.data.d : (c+1)*l.data.d]
	var s float64
	for j, v := range l.data.row(i) {
		e := float64(v) - centre[j]
		s += e * e
	}
	return s
}

// measure sets dist.
func (l *lloyd) measure() {
	par.For(l.data.n, 64, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			l.dist[i] = l.exact(i, int(l.labels[i]))
		}
	})
}

// move puts each centre at the mean of its rows, and empty clusters at the rows
// farthest from their centres. It returns the sum of the centres' squared shifts.
func (l *lloyd) move() float64 {
	d := l.data.d
	l.sums.follow(l.labels)
	if l.hasEmpty() {
		l.measure()
		l.refill()
	}
	var shift float64
	for c := range l.k {
		centre, sum := l.centre[c*d:(c+1)*d], l.sums.sum[c*d:(c+1)*d]
		if l.size[c] == 0 { // fewer distinct rows than clusters: it stays where it is
			continue
		}
		for j := range sum {
			v := sum[j] / float64(l.size[c])
			e := v - centre[j]
			shift += e * e
			centre[j] = v
		}
	}
	return shift
}

// refill makes the rows farthest from their centres, ties by index, the only
// members of empty clusters. Rows at distance 0 and the last row of a cluster stay.
func (l *lloyd) refill() {
	for c := range l.k {
		if l.size[c] > 0 {
			continue
		}
		far := -1
		for i, v := range l.dist {
			if v > 0 && l.size[l.labels[i]] > 1 && (far < 0 || v > l.dist[far]) {
				far = i
			}
		}
		if far < 0 {
			return
		}
		l.size[l.labels[far]]--
		l.size[c] = 1
		l.labels[far], l.dist[far] = int32(c), 0
		l.sums.follow(l.labels)
	}
}

// inertia returns the sum of squared distances on the scale of data.x.
func (l *lloyd) inertia() float64 {
	l.measure()
	var s float64
	for _, v := range l.dist {
		s += v
	}
	return s
}

// original returns the centres in the data's own place and unit.
func (l *lloyd) original() []float32 {
	d := l.data.d
	out := make([]float32, l.k*d)
	for i, v := range l.centre {
		out[i] = float32(v/l.data.scale + l.data.mean[i%d])
	}
	return out
}
