package bound

import (
	"errors"
	"math"
	"testing"

	"tercet/internal/engine/nn"
	"tercet/internal/par"
	"tercet/internal/rng"
)

// chains are networks that intervals can be trained of.
var chains = map[string]nn.Spec{
	"linear": models["linear"],
	"mlp":    models["mlp"],
	"c2f2":   models["c2f2"],
	"lenet":  {Name: "lenet", Height: 16, Width: 16, Channels: 1, Embedding: 3},
	"small":  {Name: "small", Height: 14, Width: 13, Channels: 1, Embedding: 3, Normalize: true},
}

// The ends are those of plain float64 loops.
func TestEndsOfThePass(t *testing.T) {
	t.Parallel()
	for name, s := range chains {
		m := build(t, s)
		p, err := NewPass(m)
		if err != nil {
			t.Fatal(err)
		}
		x := pictures(m, 3)
		for _, eps := range []float64{0.2, 0.01} {
			h := p.Forward(x, eps)
			for i := range 3 {
				for k, want := range plainFeatures(t, m, x.Row(i), eps) {
					lo, hi := float64(h.Row(i)[k]), float64(h.Row(3 + i)[k])
					if math.Abs(lo-want.lo) > 1e-5 || math.Abs(hi-want.hi) > 1e-5 {
						t.Fatalf("%s, eps %v, image %d, feature %d: [%v, %v], want %v", name, eps, i, k, lo, hi, want)
					}
				}
			}
		}
	}
}

// Gradients are finite differences of plain float64 loops.
func TestGradientsOfThePass(t *testing.T) {
	t.Parallel()
	const eps, step = 0.1, 0x1p-14
	for name, s := range chains {
		m := build(t, s)
		p, _ := NewPass(m)
		x := pictures(m, 1)
		h := p.Forward(x, eps)
		r := rng.New(1, name)
		dh := h.Clone()
		for i := range dh.Data {
			dh.Data[i] = 2*r.Float32() - 1
		}
		coef := dh.Clone()
		value := func() float64 {
			sum := 0.0
			for k, v := range plainFeatures(t, m, x.Row(0), eps) {
				sum += float64(coef.Row(0)[k])*v.lo + float64(coef.Row(1)[k])*v.hi
			}
			return sum
		}
		for _, q := range m.Params() {
			if q.Grad != nil {
				q.Grad.Zero()
			}
		}
		p.Backward(dh)
		off, all := 0, 0
		for _, q := range m.Params() {
			if q.Grad == nil || q == p.Head.W || q == p.Head.Bias {
				continue
			}
			for range 4 {
				i := r.IntN(len(q.Value.Data))
				was := q.Value.Data[i]
				q.Value.Data[i] = was + step
				wide := float64(q.Value.Data[i])
				up := value()
				q.Value.Data[i] = was - step
				wide -= float64(q.Value.Data[i])
				down := value()
				q.Value.Data[i] = was
				want := (up - down) / wide
				all++
				if got := float64(q.Grad.Data[i]); math.Abs(got-want) > 1e-3*(1+math.Abs(want)) {
					off++ // a kink of ReLU, pooling or a magnitude lies between the two
				}
			}
		}
		if off*12 > all {
			t.Errorf("%s: %d of %d gradients are not those of finite differences", name, off, all)
		}
	}
}

// Threads change no bit.
func TestThePassHasTheSameBits(t *testing.T) {
	grads := func(threads int) (out []float32) {
		defer par.SetThreads(0)
		par.SetThreads(threads)
		m := build(t, chains["c2f2"])
		p, _ := NewPass(m)
		h := p.Forward(pictures(m, 5), 0.1)
		out = append(out, h.Data...)
		p.Backward(h.Clone())
		for _, q := range m.Params() {
			out = append(out, q.Grad.Data...)
		}
		return out
	}
	one, two := grads(1), grads(2)
	for i := range one {
		if math.Float32bits(one[i]) != math.Float32bits(two[i]) {
			t.Fatalf("number %d: %v on one thread, %v on two", i, one[i], two[i])
		}
	}
}

func TestNoPass(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"cnn", "resnet18", "mlp relu"} {
		if _, err := NewPass(build(t, models[name])); !errors.Is(err, ErrNone) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
