package adversary

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"tercet/internal/engine/array"
	"tercet/internal/par"
)

// below is the goal z . v, reached below a limit of each image.
type below struct {
	along
	limit []float64
	per   []float64
	evals int
}

func (g *below) Eval(z *array.Array, per []float64, grad *array.Array) error {
	g.evals += z.Rows()
	err := g.along.Eval(z, per, grad)
	g.per = slices.Clone(per)
	return err
}
func (g *below) Reached(i int) bool { return g.per[i] < g.limit[i] }
func (g *below) Retain(rows []int)  { g.limit = retained(g.limit, rows) }

// Images that leave do not change the others: each is as in a run of its own, and the first
// iterate below the limit is the one that plain PGD of so many steps ends with.
func TestRunUntilAgainstSingleRuns(t *testing.T) {
	t.Parallel()
	m := newNet(7, 8, 10, 4, true, 2)
	v := along{[]float64{1, -1, 2, 0.5}}
	x := images(8, 9, 0, 1)
	for _, rule := range []StepRule{Fixed, Auto} {
		p := base()
		p.Rule, p.Keep, p.Iterations, p.Eps = rule, Best, 20, 0.3
		// limits between the first and the best objective, some out of reach
		_, r := run(t, p, m, x, v, 5)
		best := slices.Clone(r.Objective)
		first := make([]float64, 9)
		if err := v.Eval(m.Embed(x, p.Mode), first, nil); err != nil {
			t.Fatal(err)
		}
		limit := make([]float64, 9)
		for i := range limit {
			limit[i] = first[i] + (best[i]-first[i])*[]float64{-1, 0.1, 0.5, 0.9, 2}[i%5]
		}
		g := &below{along: v, limit: slices.Clone(limit)}
		out := array.New(x.Shape...)
		a, err := p.RunUntil(m, x, ids(9), g, 5, out)
		if err != nil {
			t.Fatal(err)
		}
		passes := int64(0)
		for i := range 9 {
			if want := i%5 != 4; a.Reached[i] != want {
				t.Fatalf("%s: image %d reached its limit: %v", rule, i, a.Reached[i])
			}
			one := array.New(1, 2, 2, 2)
			q := p
			single := &below{along: v, limit: []float64{limit[i]}}
			b, err := q.RunUntil(m, x.Slice(i, i+1), ids(9)[i:i+1], single, 5, one)
			if err != nil {
				t.Fatal(err)
			}
			if fmt.Sprint(one.Data) != fmt.Sprint(out.Row(i)) || b.Objective[0] != a.Objective[i] || b.Steps[0] != a.Steps[i] || b.First[0] != first[i] {
				t.Errorf("%s: image %d depends on its batch: %+v", rule, i, b)
			}
			passes += b.Forward
			if !a.Reached[i] {
				if a.Objective[i] != best[i] {
					t.Errorf("%s: image %d: best %v, by plain PGD %v", rule, i, a.Objective[i], best[i])
				}
				continue
			}
			if rule == Auto || a.Steps[i] == 0 {
				continue // steps of APGD depend on how many there are
			}
			plain := base()
			plain.Eps, plain.Iterations = p.Eps, a.Steps[i]
			want, r := run(t, plain, m, x.Slice(i, i+1), v, 5)
			if fmt.Sprint(want.Data) != fmt.Sprint(out.Row(i)) || r.Objective[0] >= limit[i] {
				t.Errorf("image %d: not the iterate of step %d", i, a.Steps[i])
			}
			if plain.Iterations--; plain.Iterations > 0 {
				if _, r := run(t, plain, m, x.Slice(i, i+1), v, 5); r.Objective[0] < limit[i] {
					t.Errorf("image %d: below its limit before step %d", i, a.Steps[i])
				}
			}
		}
		if a.Forward != passes || g.evals != int(passes) {
			t.Errorf("%s: %d images forward, %d evaluated, %d one by one", rule, a.Forward, g.evals, passes)
		}
	}
}

func TestRunUntilDoesNotDependOnThreads(t *testing.T) {
	defer par.SetThreads(0)
	m := newNet(7, 8, 10, 4, true, 2)
	x := images(8, 9, 0, 1)
	p := base()
	p.Norm, p.Direction, p.Rule, p.Keep, p.Start, p.Iterations = L2, Normalized, Auto, Best, FromRandom, 15
	var want string
	for threads := 1; threads <= 3; threads++ {
		par.SetThreads(threads)
		out := array.New(x.Shape...)
		a, err := p.RunUntil(m, x, ids(9), &below{along: along{[]float64{1, -1, 2, 0.5}}, limit: slices.Repeat([]float64{-0.4}, 9)}, 5, out)
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprintf("%x %+v", out.Data, a); want == "" {
			want = got
		} else if got != want {
			t.Fatalf("%d threads: other bits", threads)
		}
	}
}

func TestRunUntilRefuses(t *testing.T) {
	t.Parallel()
	m := newNet(13, 8, 4, 2, false, 1)
	x := images(14, 3, 0, 1)
	g := &below{along: along{[]float64{1, 1}}, limit: slices.Repeat([]float64{math.Inf(-1)}, 3)}
	for _, change := range []func(p *PGD){func(p *PGD) { p.Keep = Last }, func(p *PGD) { p.Restarts = 2 }, func(p *PGD) { p.Eps = 7 }} {
		p := base()
		p.Keep = Best
		change(&p)
		if _, err := p.RunUntil(m, x, nil, g, 0, array.New(x.Shape...)); err == nil {
			t.Errorf("%+v accepted", p)
		}
	}
}

// A run from given images begins there: one that has reached the goal is the result of no
// step, and of the others no result is worse than where it began.
func TestRunUntilFromOut(t *testing.T) {
	t.Parallel()
	m := newNet(7, 8, 10, 4, true, 2)
	v := along{[]float64{1, -1, 2, 0.5}}
	x, out := images(8, 4, 0, 1), array.New(4, 2, 2, 2)
	p := base()
	p.Rule, p.Keep, p.Iterations, p.Eps = Auto, Best, 6, 0.3
	first := &below{along: v, limit: slices.Repeat([]float64{math.Inf(-1)}, 4)}
	a, err := p.RunUntil(m, x, ids(4), first, 5, out)
	if err != nil {
		t.Fatal(err)
	}
	began, given := slices.Clone(a.Objective), out.Clone()
	p.FromOut = true
	again := &below{along: v, limit: []float64{math.Inf(1), math.Inf(-1), math.Inf(-1), math.Inf(1)}}
	if a, err = p.RunUntil(m, x, ids(4), again, 5, out); err != nil {
		t.Fatal(err)
	}
	for i := range 4 {
		if math.Abs(a.First[i]-began[i]) > 1e-6 || a.Objective[i] > began[i]+1e-6 {
			t.Errorf("image %d began at %v, want %v, and ended at %v", i, a.First[i], began[i], a.Objective[i])
		}
		if a.Reached[i] && (a.Steps[i] != 0 || !slices.Equal(out.Row(i), given.Row(i))) {
			t.Errorf("image %d left after %d steps", i, a.Steps[i])
		}
	}
	p.Keep = Last
	if err := p.Validate(); err == nil {
		t.Error("given images with the last iterate")
	}
}
