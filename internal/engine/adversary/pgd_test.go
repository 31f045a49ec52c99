package adversary

import (
	"fmt"
	"math"
	"runtime"
	"testing"

	"tercet/internal/engine/array"
	"tercet/internal/engine/nn"
	"tercet/internal/par"
	"tercet/internal/rng"
)

// On a linear embedder the objective is u . x: the optimum over the L-infinity
// ball is x0 - eps sign(u), over the L2 ball x0 - eps u/|u|; with [0, 1], the
// former is clipped pixel by pixel.
func TestPGDReachesTheClosedFormOptimum(t *testing.T) {
	m := newNet(1, 8, 8, 3, false, 1)
	g := along{[]float64{0.3, -1, 0.7}}
	u := make([]float64, 8)
	length := 0.0
	for k := range u {
		for a := range m.w1 {
			for b := range m.w2 {
				u[k] += g.v[b] * m.w2[b][a] * m.w1[a][k]
			}
		}
		length += u[k] * u[k]
	}
	length = math.Sqrt(length)
	for _, rule := range []StepRule{Fixed, Auto} {
		for _, start := range []Start{FromClean, FromRandom} {
			for _, box := range []bool{false, true} {
				p := base()
				p.Rule, p.Start, p.Keep, p.Iterations = rule, start, Best, 40
				x := images(2, 5, 0.2, 0.8)
				if box {
					x = images(2, 5, 0, 1)
				}
				out, r := run(t, p, m, x, g, 1)
				for i := range x.Rows() {
					want := 0.0
					for k, c := range x.Row(i) {
						best := math.Min(1, math.Max(0, float64(c)-math.Copysign(p.Eps, u[k])))
						want += u[k] * best
						if d := math.Abs(float64(out.Row(i)[k]) - best); d > 1e-6 {
							t.Errorf("linf %s %s box %v: pixel %d of image %d is %v, optimum %v", rule, start, box, k, i, out.Row(i)[k], best)
						}
					}
					if math.Abs(r.Objective[i]-want) > 1e-5 {
						t.Errorf("linf %s %s box %v: objective %v, optimum %v", rule, start, box, r.Objective[i], want)
					}
				}
				if box {
					continue
				}
				p.Norm, p.Direction, p.Eps, p.Step = L2, Normalized, 0.15, 0.03
				_, r = run(t, p, m, x, g, 1)
				for i := range x.Rows() {
					want := 0.0
					for k, c := range x.Row(i) {
						want += u[k] * (float64(c) - p.Eps*u[k]/length)
					}
					if math.Abs(r.Objective[i]-want) > 1e-5 {
						t.Errorf("l2 %s %s: objective %v, optimum %v", rule, start, r.Objective[i], want)
					}
					if math.Abs(r.L2[i]-p.Eps) > 1e-6 {
						t.Errorf("l2 %s %s: radius %v of %v used", rule, start, r.L2[i], p.Eps)
					}
				}
			}
		}
	}
}

// One step from the clean image, against the step written out.
func TestPGDOneStep(t *testing.T) {
	m := newNet(3, 8, 6, 3, true, 1)
	g := along{[]float64{1, -0.5, 0.25}}
	x := images(4, 3, 0.3, 0.7)
	z := m.Embed(x, nn.Eval)
	dz := array.New(3, 3)
	if err := g.Eval(z, make([]float64, 3), dz); err != nil {
		t.Fatal(err)
	}
	dx := m.Backward(dz, nn.Input).Clone()
	for _, c := range []struct {
		norm   Norm
		dir    Direction
		fgsm   bool
		length float64
	}{{Linf, Sign, false, 0.02}, {Linf, Sign, true, 0.1}, {Linf, Normalized, false, 0.02}, {L2, Sign, false, 0.02}, {L2, Normalized, false, 0.02}, {L2, Normalized, true, 0.1}} {
		p := base()
		p.Norm, p.Direction, p.FGSM, p.Iterations = c.norm, c.dir, c.fgsm, 1
		out, r := run(t, p, m, x, g, 0)
		for i := range 3 {
			step := make([]float64, 8)
			linf, l2 := 0.0, 0.0
			for k, v := range dx.Row(i) {
				step[k] = float64(v)
				if c.dir == Sign {
					step[k] = math.Copysign(1, float64(v))
				}
				linf = math.Max(linf, math.Abs(step[k]))
				l2 += step[k] * step[k]
			}
			scale := c.length / linf
			if c.norm == L2 {
				scale = c.length / math.Sqrt(l2)
			}
			for k := range step {
				want := float64(x.Row(i)[k]) - scale*step[k]
				if math.Abs(float64(out.Row(i)[k])-want) > 1e-6 {
					t.Errorf("%+v: image %d pixel %d is %v, want %v", c, i, k, out.Row(i)[k], want)
				}
			}
			used := r.Linf[i]
			if c.norm == L2 {
				used = r.L2[i]
			}
			if math.Abs(used-c.length) > 1e-6 {
				t.Errorf("%+v: moved by %v", c, used)
			}
		}
		if r.Forward != 2 || r.Backward != 1 {
			t.Errorf("%d forward, %d backward passes", r.Forward, r.Backward)
		}
	}
}

func TestPGDStaysInBallAndBox(t *testing.T) {
	m := newNet(5, 8, 10, 4, true, 3)
	g := along{[]float64{1, -1, 2, 0.5}}
	for _, x := range []*array.Array{images(6, 6, 0, 1), images(6, 6, 0, 0), images(6, 6, 1, 1)} {
		for _, norm := range []Norm{Linf, L2} {
			for _, rule := range []StepRule{Fixed, Auto} {
				for _, dir := range []Direction{Sign, Normalized} {
					for _, eps := range []float64{0, 0.05, 0.9} {
						p := base()
						p.Norm, p.Rule, p.Direction, p.Eps = norm, rule, dir, eps
						p.Start, p.Restarts, p.Keep, p.Iterations = FromRandom, 2, Best, 7
						out, r := run(t, p, m, x, g, 9)
						for i := range x.Rows() {
							used := r.Linf[i]
							if norm == L2 {
								used = r.L2[i]
							}
							if used > eps+1e-6 {
								t.Fatalf("%s %s eps %v: image %d is %v away", norm, rule, eps, i, used)
							}
						}
						for _, v := range out.Data {
							if !(v >= 0 && v <= 1) {
								t.Fatalf("pixel %v", v)
							}
						}
					}
				}
			}
		}
	}
}

// The random start fills the ball: it is not at its center, and on average it is
// as far away as a uniform point is (L-infinity: eps/2 per pixel; L2: n/(n+1) eps).
func TestRandomStartIsUniform(t *testing.T) {
	const n, images = 8, 4000
	x0 := make([]float32, n)
	for k := range x0 {
		x0[k] = 0.5
	}
	for _, norm := range []Norm{Linf, L2} {
		p := base()
		p.Norm, p.Eps = norm, 0.2
		x := make([]float32, n)
		mean := 0.0
		for i := range images {
			p.randomStart(x, x0, rng.New(1, "pgd", uint64(i), 0))
			for k := range x {
				if norm == Linf {
					mean += math.Abs(float64(x[k]-x0[k])) / n
				}
			}
			if norm == L2 {
				_, l2 := distances(x, x0)
				mean += l2
			}
		}
		want := 0.1
		if norm == L2 {
			want = 0.2 * n / (n + 1)
		}
		if mean /= images; math.Abs(mean-want) > 0.002 {
			t.Errorf("%s: mean distance %v, want %v", norm, mean, want)
		}
	}
}

func TestBestIsNotWorseThanLastNorAutoThanFixed(t *testing.T) {
	g := along{[]float64{1, -1, 2, 0.5}}
	gain := 0.0
	for seed := range uint64(6) {
		m := newNet(20+seed, 8, 12, 4, true, 4)
		x := images(seed, 8, 0, 1)
		objective := func(change func(p *PGD)) []float64 {
			p := base()
			p.Eps, p.Step, p.Iterations = 0.3, 0.1, 40
			change(&p)
			_, r := run(t, p, m, x, g, 3)
			return append([]float64(nil), r.Objective...)
		}
		last := objective(func(p *PGD) {})
		best := objective(func(p *PGD) { p.Keep = Best })
		more := objective(func(p *PGD) { p.Keep, p.Restarts = Best, 4 })
		auto := objective(func(p *PGD) { p.Keep, p.Rule = Best, Auto })
		fixedSum, autoSum := 0.0, 0.0
		for i := range last {
			if best[i] > last[i] {
				t.Errorf("net %d image %d: best %v, last %v", seed, i, best[i], last[i])
			}
			if more[i] > best[i] {
				t.Errorf("net %d image %d: 4 runs %v, one of them %v", seed, i, more[i], best[i])
			}
			fixedSum += best[i]
			autoSum += auto[i]
		}
		gain += fixedSum - autoSum
	}
	if gain < 0 {
		t.Errorf("automatic steps are worse than fixed ones by %v in the sum over six nets", -gain)
	}
}

// Checkpoints of the authors' code for 100 iterations: 22, 41, 57, 70, 80, 87,
// 93, 99.
func TestAutoStepCheckpoints(t *testing.T) {
	var a autoStep
	a.begin(&PGD{Iterations: 100})
	var got []int
	for i := range 100 {
		a.tick(i)
		if a.checkpoint {
			got = append(got, i)
		}
	}
	if s := fmt.Sprint(got); s != "[22 41 57 70 80 87 93 99]" {
		t.Fatal(s)
	}
}

// A batch of 7, the same images one by one or in other company, and any number of
// threads: identical bits.
func TestPGDDoesNotDependOnBatchOrThreads(t *testing.T) {
	defer par.SetThreads(0)
	m := newNet(7, 8, 10, 4, true, 2)
	g := along{[]float64{1, -1, 2, 0.5}}
	x := images(8, 7, 0, 1)
	for _, rule := range []StepRule{Fixed, Auto} {
		for _, norm := range []Norm{Linf, L2} {
			p := base()
			p.Rule, p.Norm, p.Start, p.Restarts, p.Keep, p.KeepPrevious = rule, norm, FromRandom, 3, Best, true
			par.SetThreads(1)
			out, r := run(t, p, m, x, g, 5)
			want := fmt.Sprintf("%x %x %x %x", out.Data, r.Objective, r.Embedding.Data, r.Previous.Data)
			for _, threads := range []int{2, 3} {
				par.SetThreads(threads)
				out, r := run(t, p, m, x, g, 5)
				if got := fmt.Sprintf("%x %x %x %x", out.Data, r.Objective, r.Embedding.Data, r.Previous.Data); got != want {
					t.Fatalf("%s %s: %d threads give other bits", rule, norm, threads)
				}
			}
			q := p // one PGD for batches of changing size
			for lo, hi := 0, 3; lo < 7; lo, hi = hi, min(hi+3, 7) {
				part := array.New(hi-lo, 2, 2, 2)
				if _, err := q.Run(m, x.Slice(lo, hi), ids(7)[lo:hi], g, 5, part); err != nil {
					t.Fatal(err)
				}
				if fmt.Sprint(part.Data) != fmt.Sprint(out.Slice(lo, hi).Data) {
					t.Fatalf("%s %s: images %d to %d depend on their batch", rule, norm, lo, hi-1)
				}
			}
			if other, _ := run(t, p, m, x, g, 6); fmt.Sprint(other.Data) == fmt.Sprint(out.Data) && rule == Fixed {
				t.Errorf("%s %s: another seed gives the same images", rule, norm)
			}
		}
	}
}

func (failing) Eval(z *array.Array, per []float64, _ *array.Array) error {
	for i := range per {
		per[i] = 1
	}
	per[len(per)-1] = math.NaN()
	return nil
}

func TestPGDAllocatesNothing(t *testing.T) {
	m := newNet(15, 8, 6, 3, true, 1)
	x := images(16, 9, 0, 1)
	out := array.New(9, 2, 2, 2)
	id := ids(9)
	var g Goal = along{[]float64{1, -1, 2}}
	for _, rule := range []StepRule{Fixed, Auto} {
		for _, norm := range []Norm{Linf, L2} {
			p := base()
			p.Rule, p.Norm, p.Keep, p.Restarts, p.KeepPrevious = rule, norm, Best, 2, true
			step := func() {
				if _, err := p.Run(m, x, id, g, 1, out); err != nil {
					t.Fatal(err)
				}
			}
			for range 30 {
				step()
			}
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			for range 50 {
				step()
			}
			runtime.ReadMemStats(&after)
			if a := after.Mallocs - before.Mallocs; a > 20 {
				t.Errorf("%s %s: %d allocations in 50 runs", rule, norm, a)
			}
		}
	}
}
