package certify

import (
	"context"
	"math"
	"testing"

	"tercet/internal/attack/retrieval"
	"tercet/internal/attack/worst"
	"tercet/internal/engine/adversary"
	"tercet/internal/engine/array"
	"tercet/internal/engine/kernel"
	"tercet/internal/engine/nn"
	"tercet/internal/rng"
)

// No query is both certified and broken by the ensemble of attacks at the same budget; at
// each kind of proof some are certified, and at the largest budget some are broken.
func TestTheEnsembleBreaksNoCertificate(t *testing.T) {
	t.Parallel()
	p, labels := groups(40, 8, 4)
	for _, by := range []kind{intervals, backward, lipschitz} {
		m := model(t, nn.Spec{Name: "mlp", Units: 16, Embedding: 6, Normalize: by != backward}, 8)
		g := embedded(t, m, p, labels)
		queries := make([]int, len(labels))
		for i := range queries {
			queries[i] = i
		}
		norm, budgets := adversary.Linf, []float64{0.002, 0.01, 0.1}
		if by == lipschitz {
			norm, budgets = adversary.L2, []float64{0.002, 0.02, 0.3}
		}
		res := certifiedBy(t, m, p, labels, Options{Eps: budgets, Queries: queries}, by)
		for k, eps := range budgets {
			w, err := worst.Run(context.Background(), m, p, g, worst.Options{Norm: norm, Eps: eps, Steps: 20, Squares: 100})
			if err != nil {
				t.Fatal(err)
			}
			proven, broken := 0, 0
			for i, q := range w.Queries {
				attacked := w.Galleries[0].By[i]
				if res.Certified[k][q] {
					proven++
				}
				if attacked > 1 {
					broken++
				}
				if attacked > 0 && res.Certified[k][q] {
					t.Errorf("kind %d: query %d is certified at %v and broken by attack %d", by, q, eps, attacked)
				}
			}
			if k == 0 && proven == 0 || k == 2 && broken == 0 {
				t.Errorf("kind %d, eps %v: %d certified, %d broken: the test tests little", by, eps, proven, broken)
			}
		}
	}
}

// On linear networks what is not certified is broken: always where a query has one right row,
// since the certificate is exact there, and with few exceptions where it has more, whose
// weights are searched.
func TestLinearNetworksLeaveLittleUnknown(t *testing.T) {
	t.Parallel()
	for size, most := range map[int]int{2: 0, 30: 8} {
		r := rng.New(uint64(size), "sandwich")
		p, labels, queries, center := points{}, []int32{}, []int{}, make([]float32, 12)
		for i := range 200 {
			for k := range center {
				if i%size == 0 {
					center[k] = r.Float32()
				}
			}
			x := make([]float32, len(center))
			for k := range x {
				x[k] = min(1, max(0, center[k]+0.1*float32(r.NormFloat64())))
			}
			p.x, labels, queries = append(p.x, x), append(labels, int32(i/size)), append(queries, i)
		}
		m := model(t, nn.Spec{Name: "linear", Embedding: 6, Normalize: true}, len(center))
		budgets := []float64{0.03, 0.06}
		res, unknown, proven, broken := certified(t, m, p, labels, Options{Eps: budgets, Queries: queries}), 0, 0, 0
		for k, eps := range budgets {
			w, err := worst.Run(context.Background(), m, p, embedded(t, m, p, labels), worst.Options{Norm: adversary.Linf, Eps: eps, Steps: 50, Squares: 20})
			if err != nil {
				t.Fatal(err)
			}
			for i, q := range w.Queries {
				is, by := res.Certified[k][q], w.Galleries[0].By[i]
				switch {
				case is && by > 0:
					t.Errorf("classes of %d, query %d is certified at %v and broken by attack %d", size, q, eps, by)
				case is:
					proven++
				case by > 0:
					broken++
				default:
					unknown++
				}
			}
		}
		if unknown > most || proven < 30 || broken < 30 {
			t.Errorf("classes of %d: %d certified, %d broken, %d unknown, want at most %d", size, proven, broken, unknown, most)
		}
	}
}

// eot embeds images with each of some draws of noise: rows (B, draws * D). Its gradient is
// the sum over the draws, so that an attack on it follows the expectation (EOT).
type eot struct {
	*nn.Model
	noise *array.Array // (draws, pixels)
}

func (e *eot) Dim() int { return e.noise.Rows() * e.Model.Dim() }

func (e *eot) Embed(x *array.Array, mode nn.Mode) *array.Array {
	n := e.noise.Rows()
	y := array.New(append([]int{x.Rows() * n}, x.Shape[1:]...)...)
	for i := range y.Rows() {
		for k, v := range x.Row(i / n) {
			y.Row(i)[k] = v + e.noise.Row(i % n)[k]
		}
	}
	return &array.Array{Data: e.Model.Embed(y, mode).Data, Shape: []int{x.Rows(), e.Dim()}}
}

func (e *eot) Backward(dz *array.Array, need nn.Need) *array.Array {
	n, d := e.noise.Rows(), e.Model.Dim()
	all := e.Model.Backward(&array.Array{Data: dz.Data, Shape: []int{dz.Rows() * n, d}}, need)
	dx := array.New(append([]int{dz.Rows()}, all.Shape[1:]...)...)
	for i := range all.Rows() {
		for k, v := range all.Row(i) {
			dx.Row(i / n)[k] += v
		}
	}
	return dx
}

// expected is the mean over the draws of the margin of one query: half of what the squared
// distance of the nearest wrong row is more than that of the nearest right one.
type expected struct {
	g    *retrieval.Gallery
	item int
}

func (e expected) Eval(z *array.Array, per []float64, grad *array.Array) error {
	d := e.g.X.Cols()
	n := z.Cols() / d
	for i := range z.Rows() {
		per[i] = 0
		for draw := range n {
			u := z.Row(i)[draw*d : (draw+1)*d]
			near, square := [2]int{}, [2]float64{math.Inf(1), math.Inf(1)}
			for j, l := range e.g.Labels {
				k := 0
				if l != e.g.Label(e.item) {
					k = 1
				}
				if s := kernel.SquaredDistanceLanes(u, e.g.X.Row(j)); j != e.item && s < square[k] {
					near[k], square[k] = j, s
				}
			}
			per[i] += (square[1] - square[0]) / 2 / float64(n)
			if grad != nil {
				for k := range d {
					grad.Row(i)[draw*d+k] = (e.g.X.Row(near[0])[k] - e.g.X.Row(near[1])[k]) / float32(n)
				}
			}
		}
	}
	return nil
}

// An attack on the vote itself, by APGD on the expected margin of 32 draws, breaks no vote
// within 0.95 of its certified radius, and some votes within five times it.
func TestNoVoteIsBrokenByEOT(t *testing.T) {
	t.Parallel()
	p, labels := groups(24, 8, 4)
	m := model(t, nn.Spec{Name: "mlp", Units: 16, Embedding: 6, Normalize: true}, 8)
	g := embedded(t, m, p, labels)
	o := VoteOptions{Sigma: 0.1, Samples: 1000, Alpha: .001, Seed: 3}
	for i := range labels {
		o.Queries = append(o.Queries, i)
	}
	res, err := Votes(context.Background(), m, p, g, o)
	if err != nil {
		t.Fatal(err)
	}
	r := rng.New(5, "eot")
	e := &eot{m, array.New(32, 8)}
	for k := range e.noise.Data {
		e.noise.Data[k] = float32(o.Sigma * r.NormFloat64())
	}
	attacked, wrong := 0, [2]int{}
	for i, radius := range res.Radii {
		if radius < 0.02 {
			continue
		}
		attacked++
		for k, part := range []float64{0.95, 5} {
			a := adversary.PGD{Norm: adversary.L2, Eps: part * radius, Iterations: 40, Direction: adversary.Normalized, Rule: adversary.Auto, Start: adversary.FromClean, Restarts: 1, Keep: adversary.Best, Mode: nn.Eval}
			x, adv := array.New(1, 1, 8, 1), array.New(1, 1, 8, 1)
			copy(x.Data, p.x[i])
			if _, err := a.Run(e, x, []uint64{uint64(i)}, expected{g, i}, 1, adv); err != nil {
				t.Fatal(err)
			}
			b := newBallot(m, p, g, o)
			b.clean, b.around = adv.Data, retrieval.NewAround(g, i)
			if err := b.count(context.Background(), i, 1<<20, 1000); err != nil {
				t.Fatal(err)
			}
			if votes := b.votes[labels[i]]; votes < 450 { // three standard deviations below half
				wrong[k]++
				if k == 0 {
					t.Errorf("query %d has %d of 1000 votes within %v of the radius %v", i, votes, part, radius)
				}
			}
		}
	}
	if attacked < 8 || wrong[1] == 0 {
		t.Errorf("%d attacked, %d broken within five times the radius: the test tests little", attacked, wrong[1])
	}
}
