package adversary

import (
	"fmt"

	"tercet/internal/engine/array"
	"tercet/internal/par"
)

// stretching is the goal of min-max training: the mean of d(a,n) - d(a,p). Rows of z
// are the anchors, unless they are fixed, the positives, and the negatives.
type stretching struct {
	stall
	eps     float64
	count   int          // triplets
	anchors *array.Array // (n, D) fixed; nil: in z

	// arguments of Run(lo, hi)
	z, grad *array.Array
	per     []float64
}

// roles is the number of rows of a triplet in z.
func (g *stretching) roles() int {
	if g.anchors != nil {
		return 2
	}
	return 3
}

// Eval implements Goal. A triplet's share of the mean is split evenly among its
// rows.
func (g *stretching) Eval(z *array.Array, per []float64, grad *array.Array) error {
	if z.Shape[0] != g.roles()*g.count {
		return fmt.Errorf("minmax: %w: %d embeddings for %d triplets", array.ErrShape, z.Shape[0], g.count)
	}
	g.z, g.per, g.grad = z, per, grad
	par.Do(g.count, max(1, 2048/max(z.Shape[1], 1)), g)
	g.value = 0
	for _, v := range per[:g.count] {
		g.value += float64(float64(g.roles()) * v)
	}
	return nil
}

// Run evaluates triplets [lo, hi).
func (g *stretching) Run(lo, hi int) {
	n, cols, roles := g.count, g.z.Shape[1], g.roles()
	row := func(x *array.Array, i int) []float32 { return x.Data[i*cols:][:cols] }
	mean := 1 / float64(n)
	for i := lo; i < hi; i++ {
		a, at := g.z, 0
		if roles == 2 {
			a, at = g.anchors, -n
		}
		anchor, p, q := row(a, i), row(g.z, at+n+i), row(g.z, at+2*n+i)
		ap, an := distance(anchor, p, g.eps), distance(anchor, q, g.eps)
		share := (an - ap) * mean / float64(roles)
		for role := range roles {
			g.per[role*n+i] = share
		}
		if g.grad == nil {
			continue
		}
		gp, gq := row(g.grad, at+n+i), row(g.grad, at+2*n+i)
		up, down := pull(mean, an), pull(-mean, ap)
		for k, v := range anchor {
			gq[k] = float32(-up * (float64(v) - float64(q[k]) + g.eps))
			gp[k] = float32(-down * (float64(v) - float64(p[k]) + g.eps))
		}
		if roles == 2 {
			continue
		}
		ga := row(g.grad, i)
		for k, v := range anchor {
			ga[k] = float32(float64(up*(float64(v)-float64(q[k])+g.eps)) + float64(down*(float64(v)-float64(p[k])+g.eps)))
		}
	}
}

// pull returns what a difference of rows times it is the gradient of weight times
// their distance. The distance has gradient 0 where it is 0.
func pull(weight, dist float64) float64 {
	if dist > 0 {
		return weight / dist
	}
	return 0
}
