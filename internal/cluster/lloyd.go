package cluster

import (
	"context"
	"math"
	"slices"

	"tercet/internal/par"
)

// lloyd holds the state of one start of k-means.
type lloyd struct {
	data   *points
	k      int
	center []float64 // (k, d)
	low    []float32 // ||center||^2 less the center's part of the error of a key
	wide   []float32 // twice that part
	slope  float32   // times ||x||^2: twice the row's part
	labels []int32   // -1 before the first assignment
	padded []int32   // labels, filled up to whole blocks
	size   []int

	fresh   bool       // no row has a label yet
	changes [][]change // by the last assignment, of each task; none by the first one
	changed int        // rows that changed
	at      int        // of its centers among the assignment's numbers
	squares []float64  // ||center||^2
	sorted  []float64  // the same, ascending
	sum     []float64  // (k, d): sums of the clusters' rows

	iterations int
	ending     bool // the centers are final, the labels are not yet
	converged  bool
	shift      float64 // of the last move
}

func newStart(data *points, k int) *lloyd {
	n, d := data.n, data.d
	l := &lloyd{data: data, k: k, center: make([]float64, k*d), low: make([]float32, k), wide: make([]float32, k),
		padded: make([]int32, data.packed.Cols()), size: make([]int, k), sum: make([]float64, k*d)}
	l.labels = l.padded[:n]
	l.changes = make([][]change, ceilDiv(n, taskRows))
	l.reset()
	return l
}

// reset forgets all labels.
func (l *lloyd) reset() {
	for i := range l.padded {
		l.padded[i] = -1
	}
	clear(l.size)
	l.fresh = true
	l.iterations, l.ending, l.converged = 0, false, false
}

func (l *lloyd) setCenter(c, row int) {
	for j, v := range l.data.row(row) {
		l.center[c*l.data.d+j] = float64(v)
	}
}

// iterate runs Lloyd's algorithm from the centers at hand, for several starts in
// step. progress is called after each step with the number of starts that have
// ended and of steps.
func iterate(ctx context.Context, starts []*lloyd, most int, tolerance float64, progress func(ended, iteration int)) error {
	p := starts[0].data
	active := append([]*lloyd(nil), starts...)
	var moving []*lloyd
	for iteration := 1; len(active) > 0; iteration++ {
		if err := p.assigning.run(ctx, active); err != nil {
			return err
		}
		moving = moving[:0]
		for _, l := range active {
			if l.ending {
				continue
			}
			l.iterations++
			// Labels that repeat belong to the centers at hand: both are final.
			if l.repeats() && !slices.Contains(l.size, 0) {
				l.converged = true
				continue
			}
			moving = append(moving, l)
		}
		p.moving.run(moving)
		for _, l := range moving {
			l.converged = l.repeats() && l.shift == 0 || l.shift <= tolerance
			l.ending = l.converged || l.iterations == most
		}
		active = append(active[:0], moving...)
		progress(len(starts)-len(active), iteration)
	}
	return nil
}

func (l *lloyd) repeats() bool { return l.iterations > 1 && l.changed == 0 }

// inertia returns the sum of squared distances of rows to their centers on the scale of
// data.x, added up in the order of the rows.
func (l *lloyd) inertia() float64 {
	var sum float64
	var dist [1 << 12]float64
	for from := 0; from < l.data.n; from += len(dist) {
		part := dist[:min(len(dist), l.data.n-from)]
		l.measure(from, part)
		for _, v := range part {
			sum += v
		}
	}
	return sum
}

// measure sets dist to the squared distances of the rows from one on to their centers.
func (l *lloyd) measure(from int, dist []float64) {
	par.Each(len(dist), 64, func(i int) {
		dist[i] = l.exact(from+i, int(l.labels[from+i]))
	})
}

// original returns the centers in the data's own place and unit.
func (l *lloyd) original() []float32 {
	d := l.data.d
	out := make([]float32, l.k*d)
	for i, v := range l.center {
		out[i] = float32(v/l.data.scale + l.data.mean[i%d])
	}
	return out
}

// newCenters moves the centers to sum/size, or to the direction of sum.
func (l *lloyd) newCenters() {
	d := l.data.d
	l.shift = 0
	for c := range l.k {
		if l.size[c] == 0 { // fewer distinct rows than clusters: it stays where it is
			continue
		}
		l.shift += l.data.moveCenter(l.center[c*d:(c+1)*d], l.sum[c*d:(c+1)*d], float64(l.size[c]))
	}
}

// moveCenter sets a center to the mean of rows with the given sum and number, or to
// its direction, and returns the square of the way. A mean of 0 has no direction and
// leaves the center where it is.
func (f *frame) moveCenter(center, sum []float64, size float64) (shift float64) {
	if f.unit {
		size = math.Sqrt(squareOf(sum))
		if size == 0 {
			return 0
		}
	}
	for j := range sum {
		v := sum[j] / size
		e := v - center[j]
		shift += float64(e * e)
		center[j] = v
	}
	return shift
}

func squareOf(v []float64) (s float64) {
	for _, a := range v {
		s += float64(a * a)
	}
	return s
}
