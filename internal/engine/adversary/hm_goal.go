package adversary

import (
	"fmt"

	"tercet/internal/engine/array"
	"tercet/internal/par"
)

// towards is the goal of hardness manipulation, method ET: the mean over triplets
// of min(0, H - H_D)^2, which vanishes once a triplet is as hard as its
// destination. Rows of z are the n anchors, then their positives, then their
// negatives.
type towards struct {
	destination []float64 // (n)
	count       int       // triplets of the mean: n, and those left out as settled
	eps         float64   // of the distance
	stall                 // value: the mean

	// arguments of Run(lo, hi)
	z, grad *array.Array
	per     []float64
}

// Eval implements Goal. A triplet's share of the mean is split evenly among its
// three rows.
func (g *towards) Eval(z *array.Array, per []float64, grad *array.Array) error {
	n := len(g.destination)
	if z.Shape[0] != 3*n {
		return fmt.Errorf("hm: %w: %d embeddings for %d triplets", array.ErrShape, z.Shape[0], n)
	}
	g.z, g.per, g.grad = z, per, grad
	par.Do(n, max(1, 2048/max(z.Shape[1], 1)), g)
	g.value = 0
	for _, v := range per[:n] {
		g.value += float64(3 * v)
	}
	return nil
}

// Run evaluates triplets [lo, hi).
func (g *towards) Run(lo, hi int) {
	n, cols := len(g.destination), g.z.Shape[1]
	mean := 1 / float64(g.count)
	row := func(x *array.Array, i int) []float32 { return x.Data[i*cols:][:cols] }
	for i := lo; i < hi; i++ {
		a, p, q := row(g.z, i), row(g.z, n+i), row(g.z, 2*n+i)
		ap, an := distance(a, p, g.eps), distance(a, q, g.eps)
		// NaN passes on: PGD refuses it.
		short := min(0, ap-an-g.destination[i])
		share := short * short * mean / 3
		g.per[i], g.per[n+i], g.per[2*n+i] = share, share, share
		if g.grad == nil {
			continue
		}
		ga, gp, gq := row(g.grad, i), row(g.grad, n+i), row(g.grad, 2*n+i)
		up, down := pull(2*short*mean, ap), pull(2*short*mean, an)
		for k, v := range a {
			to := float64(up * (float64(v) - float64(p[k]) + g.eps))
			from := float64(down * (float64(v) - float64(q[k]) + g.eps))
			ga[k], gp[k], gq[k] = float32(to-from), float32(-to), float32(from)
		}
	}
}
