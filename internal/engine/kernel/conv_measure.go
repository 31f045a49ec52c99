package kernel

import (
	"math/rand/v2"
	"sync"
	"time"

	"tercet/internal/par"
)

// MeasurePlan chooses the algorithms by timing each that fits on n images, on
// as many threads as are set. What is chosen, and so the bits of results, can
// differ between machines and between runs; within one process the same
// geometry, n, level and number of threads are measured once. It takes some
// seconds for a large layer.
func (g Conv) MeasurePlan(n int) ConvPlan {
	g.check(0, 0, g.patch()*g.OutC, 0)
	all := g.algorithms()
	if len(all) == 1 {
		return ConvPlan{Conv: g}
	}
	key := measurement{g, max(1, n), Current(), par.Threads()}
	measured.Lock()
	defer measured.Unlock()
	if p, ok := measured.plans[key]; ok {
		return p
	}
	p := key.plan(all)
	if measured.plans == nil {
		measured.plans = map[measurement]ConvPlan{}
	}
	measured.plans[key] = p
	return p
}

// measurement is what the times depend on.
type measurement struct {
	g       Conv
	n       int
	level   Level
	threads int
}

var measured struct {
	sync.Mutex
	plans map[measurement]ConvPlan
}

// measuredLimit bounds the inputs, the weights and the outputs of a measurement,
// in numbers.
const measuredLimit = 1 << 26

// measuredBatch returns a number of images that fills tiles, is multiplied within
// some ten milliseconds and fits the memory; 0 where one image does not.
func (g Conv) measuredBatch() int {
	oh, ow := g.Out()
	if g.patch()*g.OutC > measuredLimit {
		return 0
	}
	n := min(128, max(16, 1<<30/max(1, oh*ow*g.patch()*g.OutC)))
	return min(n, measuredLimit/max(1, g.H*g.W*g.C, oh*ow*g.OutC))
}

func (m *measurement) plan(all []Algorithm) ConvPlan {
	g, n := m.g, m.n
	oh, ow := g.Out()
	r := rand.New(rand.NewPCG(1, 2))
	draw := func(n int) []float32 {
		x := make([]float32, n)
		for i := range x {
			x[i] = float32(r.Float32()) - 0.5
		}
		return x
	}
	x, w, y := draw(n*g.H*g.W*g.C), draw(g.patch()*g.OutC), draw(n*oh*ow*g.OutC)
	out, dx, dw := make([]float32, len(y)), make([]float32, len(x)), make([]float32, len(w))
	return ConvPlan{
		Conv: g,
		Fwd: fastest(all, func(a Algorithm) {
			(&ConvPlan{Conv: g, Fwd: a}).Forward(n, x, w, nil, false, out)
		}),
		Input: fastest(all, func(a Algorithm) {
			(&ConvPlan{Conv: g, Input: a}).BackwardInput(n, y, w, dx)
		}),
		Weights: fastest(all, func(a Algorithm) {
			(&ConvPlan{Conv: g, Weights: a}).BackwardWeights(n, x, y, dw, nil)
		}),
	}
}

// fastest returns the algorithm whose best time of several, interleaved after
// a call that grows its buffers, is least.
func fastest(all []Algorithm, f func(Algorithm)) Algorithm {
	best := make([]time.Duration, len(all))
	for round := range 4 {
		for i, a := range all {
			start := time.Now()
			f(a)
			if t := time.Since(start); round == 1 || round > 1 && t < best[i] {
				best[i] = t
			}
		}
	}
	least := 0
	for i := range best {
		if best[i] < best[least] {
			least = i
		}
	}
	return all[least]
}
