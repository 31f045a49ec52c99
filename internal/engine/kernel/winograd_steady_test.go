package kernel

import (
	"testing"

	"tercet/internal/par"
)

func TestWinogradAllocatesNothing(t *testing.T) {
	defer par.SetThreads(par.Threads())
	par.SetThreads(2)
	for _, g := range []Conv{
		{H: 14, W: 14, C: 8, OutC: 20, KH: 3, KW: 3, StrideH: 1, StrideW: 1, PadH: 1, PadW: 1},
		{H: 5, W: 5, C: 900, OutC: 20, KH: 3, KW: 3, StrideH: 1, StrideW: 1, PadH: 1, PadW: 1},
		{H: 9, W: 9, C: 20, OutC: 8, KH: 5, KW: 5, StrideH: 1, StrideW: 1, PadH: 2, PadW: 2},
	} {
		const n = 2
		x, w, bias := random(1, n*g.H*g.W*g.C), random(2, g.patch()*g.OutC), random(3, g.OutC)
		y := random(4, n*g.H*g.W*g.OutC)
		dx, dw := make([]float32, len(x)), make([]float32, len(w))
		for _, a := range []Algorithm{Winograd2, Winograd4} {
			const calls = 20
			if got := allocations(calls, func() {
				g.winogradForward(a, n, x, w, nil, bias, true, y)
				g.winogradInput(a, n, y, w, nil, dx)
				g.winogradWeights(a, n, x, y, dw)
			}); got >= calls {
				t.Errorf("%v of %+v: %d allocations in %d calls", a, g, got, calls)
			}
		}
	}
}
