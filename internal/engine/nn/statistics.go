package nn

import (
	"fmt"

	"tercet/internal/engine/kernel"
)

// The statistics of a batch norm are those of groups of rows: of one group, all rows, or
// of each shard. Sums over all rows are sums over the shards, which are added in their
// order, so that they do not depend on which process has a shard. Arrays over groups or
// shards hold the channels of one after those of the other.

func (l *BatchNorm2D) channels() int { return l.in[len(l.in)-1] }

// run is the rows of a group or of a shard.
type run struct {
	rows, c int // rows of c numbers
	lo, hi  int // their numbers
	at      int // of the group or shard in arrays over them
}

// run returns part i of parts, of n images: of one part, all; else that shard.
func (l *BatchNorm2D) run(parts, i, n int) run {
	lo, hi := 0, n
	if parts > 1 {
		lo, hi = l.shards.rows(i, n)
	}
	row, c := size(l.in), l.channels()
	return run{rows: (hi - lo) * l.perRow(), c: c, lo: lo * row, hi: hi * row, at: i * c}
}

// of returns the numbers of x that belong to r; nil for nil.
func (r run) of(x []float32) []float32 {
	if x == nil {
		return nil
	}
	return x[r.lo:r.hi]
}

// groupOf returns where the group of a shard is in the arrays over groups.
func (l *BatchNorm2D) groupOf(shard int) int {
	if l.groups == 1 {
		return 0
	}
	return shard * l.channels()
}

// group makes room for n groups, and for the shards.
func (l *BatchNorm2D) group(n int) {
	l.groups = n
	c := l.channels()
	for _, a := range []*[]float64{&l.mean, &l.inv, &l.scale, &l.slopeA, &l.slopeB} {
		resize(a, n*c)
	}
	resize(&l.sumA, l.shards.count()*c)
	resize(&l.sumB, l.shards.count()*c)
}

func resize(a *[]float64, n int) {
	if cap(*a) < n {
		*a = make([]float64, n)
	}
	*a = (*a)[:n]
}

// measure sets mean and, in inv, variance of each group of x, which has n images, and
// in mode Train moves the running ones.
func (l *BatchNorm2D) measure(x []float32, n int) {
	s, c := l.shards, l.channels()
	total := l.total(n) * l.perRow()
	switch {
	case s == nil || s.Bounds == nil:
		l.group(1)
		refuseOne(l.name, total)
		kernel.ColumnMoments(total, c, x, l.mean, l.inv)
		l.track(l.mean, l.inv, float64(total)/float64(total-1))
	case s.Statistics == OfShard:
		l.group(s.count())
		l.measureShards(x, n)
	default:
		l.group(1)
		refuseOne(l.name, total)
		l.measureAll(x, n, total)
		l.track(l.mean, l.inv, float64(total)/float64(total-1))
	}
}

func refuseOne(name string, rows int) {
	if rows == 1 {
		panic(fmt.Sprintf("nn: %s: batch statistics of one value per channel", name))
	}
}

// total returns the images of all shards in a pass of n of this model.
func (l *BatchNorm2D) total(n int) int {
	if l.shards == nil || l.shards.Bounds == nil {
		return n
	}
	return l.shards.Rows
}

// measureShards takes the statistics of each shard; the running ones follow their mean.
func (l *BatchNorm2D) measureShards(x []float32, n int) {
	c := l.channels()
	resize(&l.own, 2*l.groups*c)
	for g := range l.groups {
		r := l.run(l.groups, g, n)
		refuseOne(l.name, r.rows)
		kernel.ColumnMoments(r.rows, c, r.of(x), l.mean[r.at:], l.inv[r.at:])
		unbias := float64(r.rows) / float64(r.rows-1)
		for i := range c {
			l.own[2*r.at+i], l.own[2*r.at+c+i] = l.mean[r.at+i], l.inv[r.at+i]*unbias
		}
	}
	if l.mode != Train {
		return
	}
	all := l.shards.gather(l.own)
	mean, vari := make([]float64, c), make([]float64, c)
	shards := len(all) / (2 * c)
	for s := range shards {
		for i := range c {
			mean[i] += all[2*s*c+i] / float64(shards)
			vari[i] += all[(2*s+1)*c+i] / float64(shards)
		}
	}
	l.track(mean, vari, 1)
}

// measureAll takes the statistics of all rows, from the sums of the shards about a
// center that all processes know.
func (l *BatchNorm2D) measureAll(x []float32, n, total int) {
	c, shards := l.channels(), l.shards.count()
	resize(&l.own, 2*shards*c)
	center := l.scale // setScale sets it again
	for i, m := range l.runMean.Value.Data {
		center[i] = float64(m)
	}
	for s := range shards {
		lo, hi := l.shards.rows(s, n)
		row := size(l.in)
		kernel.CenteredSums((hi-lo)*l.perRow(), c, x[lo*row:hi*row], center, l.own[2*s*c:], l.own[(2*s+1)*c:])
	}
	sum, squares := l.slopeA, l.slopeB // Backward sets them again
	l.addShards(l.shards.gather(l.own), sum, squares)
	for i := range c {
		l.mean[i], l.inv[i] = kernel.Moments(total, center[i], sum[i], squares[i])
	}
}

// addShards sets a and b to the sums over shards of pairs of numbers for each channel.
func (l *BatchNorm2D) addShards(all, a, b []float64) {
	c := l.channels()
	clear(a)
	clear(b)
	for at := 0; at < len(all); at += 2 * c {
		for i := range c {
			a[i] += all[at+i]
			b[i] += all[at+c+i]
		}
	}
}

// track moves the running statistics towards mean and the biased variance in mode Train.
func (l *BatchNorm2D) track(mean, variance []float64, unbias float64) {
	if l.mode != Train {
		return
	}
	runMean, runVar := l.runMean.Value.Data, l.runVar.Value.Data
	for i := range runMean {
		runMean[i] = float32(float64((1-BatchNormMomentum)*float64(runMean[i])) + float64(BatchNormMomentum*mean[i]))
		runVar[i] = float32(float64((1-BatchNormMomentum)*float64(runVar[i])) + float64(BatchNormMomentum*variance[i]*unbias))
	}
}

// setSlopes sets what the input gradient subtracts, from the sums of the shards:
// dx = scale * (dy - mean(dy) - xhat * mean(dy * xhat)), xhat = (x-mean)*inv.
func (l *BatchNorm2D) setSlopes(n int) {
	c, shards := l.channels(), l.shards.count()
	if l.groups > 1 || shards == 1 && (l.shards == nil || l.shards.Gather == nil || l.shards.Statistics == OfShard) {
		copy(l.slopeA, l.sumA)
		copy(l.slopeB, l.sumB)
	} else {
		resize(&l.own, 2*shards*c)
		for s := range shards {
			copy(l.own[2*s*c:], l.sumA[s*c:(s+1)*c])
			copy(l.own[(2*s+1)*c:], l.sumB[s*c:(s+1)*c])
		}
		l.addShards(l.shards.gather(l.own), l.slopeA, l.slopeB)
	}
	for g := range l.groups {
		rows := float64(l.run(l.groups, g, n).rows)
		if l.groups == 1 && (l.shards == nil || l.shards.Statistics == OfBatch) {
			rows = float64(l.total(n) * l.perRow())
		}
		for i := g * c; i < (g+1)*c; i++ {
			s := l.scale[i]
			l.slopeA[i] *= s / rows
			l.slopeB[i] *= s * l.inv[i] * l.inv[i] / rows
		}
	}
}
