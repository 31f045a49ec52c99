package adversary

import (
	"errors"
	"fmt"
	"math"
	"testing"

	"tercet/internal/engine/adversary/hardness"
	"tercet/internal/engine/array"
	"tercet/internal/rng"
)

// plainDistance is |x - y + eps|, and gradient to x, in plain float64.
func plainDistance(x, y []float64, eps float64) (float64, []float64) {
	s, g := 0.0, make([]float64, len(x))
	for k := range x {
		g[k] = x[k] - y[k] + eps
		s += g[k] * g[k]
	}
	d := math.Sqrt(s)
	for k := range g {
		if d > 0 {
			g[k] /= d
		} else {
			g[k] = 0
		}
	}
	return d, g
}

func wide(x []float32) []float64 {
	out := make([]float64, len(x))
	for k, v := range x {
		out[k] = float64(v)
	}
	return out
}

// plainHM is mean_i min(0, H_i - HD_i)^2 and its gradient.
func plainHM(z [][]float64, dest []float64, eps float64) (float64, [][]float64) {
	n := len(dest)
	value, grad := 0.0, make([][]float64, 3*n)
	for i := range grad {
		grad[i] = make([]float64, len(z[0]))
	}
	for i, hd := range dest {
		ap, gp := plainDistance(z[i], z[n+i], eps)
		an, gn := plainDistance(z[i], z[2*n+i], eps)
		short := math.Min(0, ap-an-hd)
		value += short * short / float64(n)
		for k := range gp {
			w := 2 * short / float64(n)
			grad[i][k] += w * (gp[k] - gn[k])
			grad[n+i][k] -= w * gp[k]
			grad[2*n+i][k] += w * gn[k]
		}
	}
	return value, grad
}

func TestHardnessGoalAgainstExplicitLoops(t *testing.T) {
	for _, eps := range []float64{0, 1e-6} {
		for _, n := range []int{1, 2, 7, 40} {
			z := embeddings(uint64(n), 3*n, 5)
			copy(z.Row(n), z.Row(0)) // an anchor that is its own positive
			g := &towards{eps: eps, destination: make([]float64, n), count: n}
			r := rng.New(3, "destination")
			for i := range g.destination {
				g.destination[i] = r.Uniform(-1.5, 1)
			}
			rows := make([][]float64, 3*n)
			for i := range rows {
				rows[i] = wide(z.Row(i))
			}
			want, grad := plainHM(rows, g.destination, eps)
			per, got := make([]float64, 3*n), array.New(3*n, 5)
			if err := g.Eval(z, per, got); err != nil {
				t.Fatal(err)
			}
			sum := 0.0
			for _, v := range per {
				sum += v
			}
			if math.Abs(sum-want) > 1e-13 || math.Abs(g.value-want) > 1e-13 {
				t.Fatalf("n %d eps %v: objective %v, %v, want %v", n, eps, sum, g.value, want)
			}
			active := 0
			for i := range grad {
				for k, w := range grad[i] {
					if math.Abs(float64(got.Row(i)[k])-w) > 1e-7*(1+math.Abs(w)) {
						t.Fatalf("n %d eps %v: gradient[%d][%d] = %v, want %v", n, eps, i, k, got.Row(i)[k], w)
					}
					if w != 0 {
						active++
					}
				}
			}
			if n == 40 && (active == 0 || active == 3*n*5) {
				t.Errorf("%d active entries: the case has no hinge", active)
			}
			again := make([]float64, 3*n)
			if err := g.Eval(z, again, nil); err != nil || fmt.Sprint(again) != fmt.Sprint(per) {
				t.Errorf("without gradient %v (%v)", again, err)
			}
		}
	}
	g := &towards{destination: make([]float64, 2), count: 2}
	if err := g.Eval(array.New(5, 3), make([]float64, 5), nil); !errors.Is(err, array.ErrShape) {
		t.Error(err)
	}
}

func TestHardnessGoalByFiniteDifferences(t *testing.T) {
	const n = 6
	z := embeddings(4, 3*n, 4)
	g := &towards{eps: 1e-6, destination: []float64{1, 0.5, 1, 0.7, 2, 1}, count: n}
	per, grad := make([]float64, 3*n), array.New(3*n, 4)
	if err := g.Eval(z, per, grad); err != nil {
		t.Fatal(err)
	}
	for i, old := range z.Data {
		const h = 1.0 / 1024
		at := func(v float32) float64 {
			z.Data[i] = v
			if err := g.Eval(z, per, nil); err != nil {
				t.Fatal(err)
			}
			return g.value
		}
		up, down := old+h, old-h
		want := (at(up) - at(down)) / (float64(up) - float64(down))
		z.Data[i] = old
		if got := float64(grad.Data[i]); math.Abs(got-want) > 1e-5*(1+math.Abs(want)) {
			t.Fatalf("gradient %d is %v, differences give %v", i, got, want)
		}
	}
}

// gamma 0.2, u 0.2: l = 0.05 is a quarter of u.
func TestPseudoHardness(t *testing.T) {
	for _, c := range []struct {
		d    hardness.Destination
		l    float64
		want float64
	}{
		{hardness.Destination{Name: "lga", Gamma: 0.2, U: 0.2}, 0.05, -0.05},
		{hardness.Destination{Name: "lga", Gamma: 0.2, U: 0.2}, 2, -0.2},
		{hardness.Destination{Name: "lga", Gamma: 0.2, U: 0.2}, 0, 0},
		{hardness.Destination{Name: "lga", Gamma: 0.2, U: 2.2}, 1.1, -0.1},
		{hardness.Destination{Name: "lga-squared", Gamma: 0.2, U: 0.2}, 0.05, -0.0125},
		{hardness.Destination{Name: "lga-root", Gamma: 0.2, U: 0.2}, 0.05, -0.1},
		{hardness.Destination{Name: "boost", Sampler: "semihard", Xi: 0.1, U: 0.2}, 0.05, 0.075},
		{hardness.Destination{Name: "boost", Sampler: "semihard", Xi: 0.1, U: 0.2}, 5, 0},
		{hardness.Destination{Name: "constant", Value: -0.1}, 0.05, -0.1},
		{hardness.Destination{Name: "semihard"}, 0.05, 0},
	} {
		if err := c.d.Validate(); err != nil {
			t.Error(err)
		}
		if got := c.d.Pseudo(c.l); math.Abs(got-c.want) > 1e-15 {
			t.Errorf("%+v at %v: %v, want %v", c.d, c.l, got, c.want)
		}
	}
}
