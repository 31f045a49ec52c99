package cluster

import (
	"slices"

	"tercet/internal/engine/kernel"
	"tercet/internal/par"
)

const sumChunk = 64 // columns summed at a time

// movement keeps the sums of the clusters' rows and moves the centers of several
// starts. Only rows that changed their cluster are subtracted and added; where
// more than half did, all are summed again. Rows are taken in order, columns are
// split over threads.
type movement struct {
	p        *points
	anew, by []*lloyd // starts whose sums are computed from all rows, or by differences
}

func (m *movement) run(starts []*lloyd) {
	m.anew, m.by = m.anew[:0], m.by[:0]
	for _, l := range starts {
		if l.changed > l.data.n/2 {
			m.anew = append(m.anew, l)
		} else {
			m.by = append(m.by, l)
		}
	}
	par.Do(m.p.d, sumChunk, m)
	for _, l := range starts {
		if slices.Contains(l.size, 0) {
			dist := make([]float64, l.data.n)
			l.measure(0, dist)
			l.refill(dist)
		}
		l.newCenters()
	}
}

// Run brings columns [lo, hi) of the sums up to date.
func (m *movement) Run(lo, hi int) {
	d := m.p.d
	for _, l := range m.anew {
		for c := 0; c < len(l.sum); c += d {
			clear(l.sum[c+lo : c+hi])
		}
	}
	if len(m.anew) > 0 {
		for i := range m.p.n { // a row serves all starts while it is in the cache
			x := m.p.x[i*d+lo : i*d+hi]
			for _, l := range m.anew {
				c := int(l.labels[i]) * d
				kernel.AddRow(l.sum[c+lo:c+hi], x)
			}
		}
	}
	for _, l := range m.by {
		for _, list := range l.changes {
			for _, v := range list {
				l.transfer(int(v.row), int(v.from), lo, hi)
			}
		}
	}
}

// transfer moves columns [lo, hi) of a row from one cluster's sum to that of its
// label.
func (l *lloyd) transfer(row, from, lo, hi int) {
	d := l.data.d
	x := l.data.x[row*d+lo : row*d+hi]
	kernel.SubtractRow(l.sum[from*d+lo:from*d+hi], x)
	to := int(l.labels[row]) * d
	kernel.AddRow(l.sum[to+lo:to+hi], x)
}

// refill makes the rows farthest from their centers, ties by index, the only
// members of empty clusters. Rows at distance 0 and the last row of a cluster stay.
func (l *lloyd) refill(dist []float64) {
	for c := range l.k {
		if l.size[c] > 0 {
			continue
		}
		far := -1
		for i, v := range dist {
			if v > 0 && l.size[l.labels[i]] > 1 && (far < 0 || v > dist[far]) {
				far = i
			}
		}
		if far < 0 {
			return
		}
		from := int(l.labels[far])
		l.size[from]--
		l.size[c] = 1
		l.labels[far], dist[far] = int32(c), 0
		l.transfer(far, from, 0, l.data.d)
	}
}
