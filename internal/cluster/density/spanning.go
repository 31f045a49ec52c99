package density

import (
	"context"
	"fmt"
	"math"

	"tercet/internal/cluster"
	"tercet/internal/engine/kernel"
	"tercet/internal/par"
	"tercet/internal/progress"
)

// edge connects two rows at a squared distance.
type edge struct {
	a, b   int32
	square float64
}

func squared(x []float32, d, i, j int) float64 {
	return kernel.SquaredDistanceLanes(x[i*d:(i+1)*d], x[j*d:(j+1)*d])
}

// prim grows a minimum spanning tree of the complete graph with squared lengths
// max(core_i, core_j, ||x_i - x_j||^2), by the algorithm of Jarník and Prim.
type prim struct {
	x    []float32
	d    int
	core []float64
	// Products of the rows in float32, moved to mean zero, tell of most that they are
	// too far.
	data   *cluster.Centered
	square []float64 // of the rows of data
	unit   float64   // error of a product, and of the rounding of rows, as a share of squares

	last  int32     // the row added last
	left  []int32   // rows outside of the tree
	least []float64 // of each row left: its length to the tree
	from  []int32   // the row of the tree that it is to
	best  []nearestLeft
}

// nearestLeft is, of a chunk of left, the place of the row nearest to the tree.
type nearestLeft struct {
	at    int
	least float64
}

// primChunk is the number of rows measured at a time.
const primChunk = 1024

func chunks(n int) int { return (n + primChunk - 1) / primChunk }

func spanningTree(ctx context.Context, x []float32, n, d int, core []float64, told progress.Count) ([]edge, error) {
	p := &prim{x: x, d: d, core: core, data: cluster.Center(x, n, d), square: make([]float64, n), unit: kernel.DotError(d) + 16*0x1p-24, left: make([]int32, n-1), least: make([]float64, n-1), from: make([]int32, n-1),
		best: make([]nearestLeft, chunks(n))}
	for i := range p.left {
		p.left[i], p.least[i] = int32(i+1), math.Inf(1)
	}
	for i := range p.square {
		p.square[i] = kernel.SumSquares(p.data.Row(i))
	}
	edges := make([]edge, 0, n-1)
	for len(p.left) > 0 {
		if len(edges)%256 == 0 {
			if err := ctx.Err(); err != nil {
				return nil, fmt.Errorf("the spanning tree stopped after %d of %d rows: %w", len(edges)+1, n, err)
			}
			told.Tell(len(edges)+1, n)
		}
		par.Do(len(p.left), primChunk, p)
		next := p.best[0]
		for _, b := range p.best[1:chunks(len(p.left))] {
			if b.least < next.least {
				next = b
			}
		}
		at, end := next.at, len(p.left)-1
		edges = append(edges, edge{a: p.from[at], b: p.left[at], square: p.least[at]})
		p.last = p.left[at]
		p.left[at], p.least[at], p.from[at] = p.left[end], p.least[end], p.from[end]
		p.left = p.left[:end]
	}
	return edges, nil
}

// Run measures the rows at [lo, hi) of left against the last one.
func (p *prim) Run(lo, hi int) {
	own := p.core[p.last]
	x, from := p.data.Row(int(p.last)), p.square[p.last]
	scale := p.data.Scale * p.data.Scale
	best := nearestLeft{at: lo, least: math.Inf(1)}
	for at := lo; at < hi; at++ {
		// A length is no less than either core distance: most rows cannot come nearer.
		i, v := int(p.left[at]), p.least[at]
		if low := max(own, p.core[i]); low < v {
			sum := from + p.square[i]
			if sum-float64(2*float64(kernel.Dot32(x, p.data.Row(i))))-float64(p.unit*sum) < v*scale {
				if s := max(low, squared(p.x, p.d, int(p.last), i)); s < v {
					v = s
					p.least[at], p.from[at] = s, p.last
				}
			}
		}
		if v < best.least {
			best = nearestLeft{at: at, least: v}
		}
	}
	p.best[lo/primChunk] = best
}
