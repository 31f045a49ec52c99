package cluster

import (
	"math"

	"tercet/internal/engine/kernel"
	"tercet/internal/par"
)

// points is the data of all starts of k-means, packed for products with centers.
// What is per row is filled up to a multiple of 64 rows.
type points struct {
	*centered
	raw     []float32 // the data as given, where distances are wanted
	packed  kernel.PackedRows
	squares []float32 // ||x||^2, 0 beyond the last row
	usual   float64   // root of the mean of squares
	bytes   bytePoints

	assigning assignment
	moving    movement
	trying    trial
	scratches par.Free[blockScratch]
}

// blockScratch belongs to one task while it runs.
type blockScratch struct {
	keys        []float32
	index       []int32
	value       []float32
	near, moved []uint64
	mask        []uint64 // rows that may be nearest to each center
	limit       []float32
	widths      []float32 // of each center
	upper       []float32 // of each center of a start: what is added to a key for an upper bound
	few         []float32 // keys of some centers
	lists       candidates
	lanes       [][kernel.SumLanes]float64
}

func newPoints(data *centered) *points {
	p := &points{centered: data}
	p.assigning.p, p.moving.p, p.trying.p = p, p, p
	p.usual = math.Sqrt(data.square)
	p.pack()
	return p
}

// pack makes what belongs to the rows of x, again where they are others than before.
func (p *points) pack() {
	p.packed.Pack(p.n, p.d, p.x)
	if p.squares == nil {
		p.squares = make([]float32, p.packed.Cols())
	}
	par.Do(p.n, 256, p)
	p.bytes.stale = true
}

// Run measures rows [lo, hi).
func (p *points) Run(lo, hi int) {
	for i := lo; i < hi; i++ {
		p.squares[i] = float32(kernel.SumSquares(p.row(i)))
	}
}

// room returns space for n keys.
func (w *blockScratch) room(n int) []float32 {
	if cap(w.few) < n {
		w.few = make([]float32, n)
	}
	return w.few[:n]
}

// scratch returns room for keys of the given number of centers and blockCols rows.
func (p *points) scratch(centers int) *blockScratch {
	w := p.scratches.Get()
	if n := centers * blockCols; cap(w.keys) < n {
		w.keys = make([]float32, n+n/4)
	}
	if cap(w.widths) < centers {
		w.widths, w.upper = make([]float32, centers), make([]float32, centers)
	}
	if w.index == nil {
		w.index, w.value = make([]int32, blockCols), make([]float32, blockCols)
		w.limit = make([]float32, blockCols)
		w.near, w.moved = make([]uint64, blockCols/64), make([]uint64, blockCols/64)
	}
	return w
}
