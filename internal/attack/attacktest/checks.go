package attacktest

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"tercet/internal/attack"
	"tercet/internal/attack/retrieval"
	"tercet/internal/engine/array"
	"tercet/internal/par"
	"tercet/internal/rng"
)

func checkDescription(t *testing.T, a attack.Attack) {
	for _, s := range []string{a.Doc, a.Goal, a.Objective, a.Source} {
		if s == "" || strings.TrimSpace(s) != s || strings.HasSuffix(s, ".") || strings.ContainsAny(s, "|\n") {
			t.Errorf("%q does not fit into a line of a table", s)
		}
	}
	if strings.ContainsAny(a.Name, " :/\\,|") {
		t.Errorf("name %q: it goes into lists and file names", a.Name)
	}
	var all []string
	for _, s := range attack.Scores() {
		all = append(all, s.Key)
	}
	for _, s := range a.Scores {
		if slices.Index(all, s.Key) != len(all)-1-slices.Index(reversed(all), s.Key) {
			t.Errorf("two attacks have the score %s", s.Key)
		}
		if !slices.Contains([]attack.Unit{attack.Fraction, attack.Cosine, attack.Distance}, s.Unit) {
			t.Errorf("%s: unit %q", s.Key, s.Unit)
		}
		if !slices.Contains([]attack.Direction{attack.Higher, attack.Lower, attack.Neither}, s.Robust) {
			t.Errorf("%s: direction %q", s.Key, s.Robust)
		}
		if !slices.Contains(attack.Panels(), s.Panel) {
			t.Errorf("%s: no panel %q", s.Key, s.Panel)
		}
	}
	for _, o := range a.Options {
		if !slices.Contains(attack.MethodOptionNames(), o) {
			t.Errorf("unknown option %q", o)
		}
	}
	for o := range a.Refuses {
		if a.Uses(o) {
			t.Errorf("option %s is used and refused", o)
		}
	}
	if words := a.Achieved(1, 0); words == "" {
		t.Error("no words for what became of a query")
	}
}

func reversed(s []string) []string {
	s = slices.Clone(s)
	slices.Reverse(s)
	return s
}

// checkGradient compares gradients with central differences of the objective along
// the gradient and three random directions. A step is short, so that it passes few
// kinks of an objective that is a sum over the gallery.
func (f *field) checkGradient(t *testing.T) {
	const h = 1e-3
	m := f.method(t, f.o, 0, queries, 0)
	if got, want := m.Scores(), attack.Keys([]string{f.a.Name}); !slices.Equal(got, want) {
		t.Errorf("scores %v, described %v", got, want)
	}
	per, grad := evaluate(t, m, f.z)
	alone := make([]float64, queries)
	if err := m.Eval(f.z, alone, nil); err != nil || !slices.Equal(alone, per) {
		t.Errorf("objectives without gradient %v, with it %v (%v)", alone, per, err)
	}
	r := rng.New(7, "directions")
	moved := false
	for i := range queries {
		length := norm(grad.Row(i))
		moved = moved || length > 0
		for n := range 4 {
			u := make([]float64, dim)
			size := 0.0
			for k := range u {
				if u[k] = float64(grad.Row(i)[k]); n > 0 || length == 0 {
					u[k] = r.NormFloat64()
				}
				size += u[k] * u[k]
			}
			plus, minus, along := f.z.Clone(), f.z.Clone(), 0.0
			for k := range u {
				step := h * u[k] / math.Sqrt(size)
				plus.Row(i)[k] += float32(step)
				minus.Row(i)[k] -= float32(step)
				along += float64(grad.Row(i)[k]) * (float64(plus.Row(i)[k]) - float64(minus.Row(i)[k]))
			}
			up, down := make([]float64, queries), make([]float64, queries)
			if err := m.Eval(plus, up, nil); err != nil {
				t.Fatal(err)
			}
			if err := m.Eval(minus, down, nil); err != nil {
				t.Fatal(err)
			}
			if difference := up[i] - down[i]; math.Abs(difference-along) > 2*h*(0.03*length+3e-3) {
				t.Errorf("query %d, direction %d: the objective changes by %v, by its gradient %v", i, n, difference, along)
			}
		}
	}
	if !moved {
		t.Error("all gradients are 0")
	}
}

func norm(x []float32) float64 {
	s := 0.0
	for _, v := range x {
		s += float64(v) * float64(v)
	}
	return math.Sqrt(s)
}

// checkIndependence compares the bits of each query in batches of all sizes, on one
// thread and on two.
func (f *field) checkIndependence(t *testing.T) {
	defer par.SetThreads(0)
	var want [queries]string
	for _, threads := range []int{1, 2} {
		par.SetThreads(threads)
		for _, size := range []int{queries, 4, 1} {
			m, err := attack.NewMethod(f.a.Name, f.g, f.variant, f.o)
			if err != nil {
				t.Fatal(err)
			}
			for lo := 0; lo < queries; lo += size {
				hi := min(lo+size, queries)
				f.aim(t, m, lo, hi, 1)
				z := f.z.Slice(lo, hi)
				per, grad := evaluate(t, m, z)
				scores := score(m, z)
				for i := range hi - lo {
					got := fmt.Sprintf("targets %v objective %x gradient %x scores", m.Targets(i), per[i], grad.Row(i))
					for _, s := range scores {
						got += fmt.Sprintf(" %x", s[i])
					}
					switch at := lo + i; {
					case want[at] == "":
						want[at] = got
					case want[at] != got:
						t.Fatalf("query %d, %d threads, batches of %d:\n%s\nand before\n%s", at, threads, size, got, want[at])
					}
				}
			}
		}
	}
}

// checkAllocations allows none from the second step on.
func (f *field) checkAllocations(t *testing.T) {
	defer par.SetThreads(0)
	par.SetThreads(1)
	m := f.method(t, f.o, 0, queries, 0)
	per, grad := make([]float64, queries), array.New(queries, dim)
	step := func() {
		if err := m.Eval(f.z, per, grad); err != nil {
			t.Fatal(err)
		}
	}
	step()
	if n := testing.AllocsPerRun(10, step); n != 0 {
		t.Errorf("%v allocations a step", n)
	}
}

// checkTargets asks that draws and seeds matter where, and only where, the attack
// says so, and that targets are rows of the gallery.
func (f *field) checkTargets(t *testing.T) {
	other := f.o
	other.Seed++
	first, draw, seed := f.targets(t, f.o, 0), f.targets(t, f.o, 1), f.targets(t, other, 0)
	if random := f.a.Uses(attack.Draws); slices.Equal(first, draw) == random || slices.Equal(first, seed) == random {
		t.Errorf("targets %v; in another draw %v, of another seed %v; the attack says that they are random: %v", first, draw, seed, random)
	}
	if described := f.a.Targets != ""; described != (first != nil) {
		t.Errorf("targets %v, described as %q", first, f.a.Targets)
	}
	for _, j := range first {
		if j < 0 || int(j) >= items {
			t.Errorf("target %d of a gallery of %d", j, items)
		}
	}
}

func (f *field) targets(t *testing.T, o attack.MethodOptions, draw int) []int32 {
	m := f.method(t, o, 0, queries, draw)
	var out []int32
	for i := range queries {
		out = append(out, m.Targets(i)...)
	}
	return out
}

// checkNaN asks that a clean embedding that is not finite is refused, and that a
// query whose embedding is NaN has NaN objectives and scores, and no other query.
func (f *field) checkNaN(t *testing.T) {
	m := f.method(t, f.o, 0, queries, 0)
	z := f.z.Clone()
	z.Row(2)[3] = float32(math.NaN())
	clean := make([]float64, queries)
	if err := m.Eval(f.z, clean, nil); err != nil {
		t.Fatal(err)
	}
	per, _ := evaluate(t, m, z)
	for i, v := range per {
		if i == 2 != math.IsNaN(v) || i != 2 && v != clean[i] {
			t.Errorf("query 2 is NaN: objective %d is %v", i, v)
		}
	}
	for s, list := range score(m, z) {
		for i, v := range list {
			if i == 2 != math.IsNaN(v) {
				t.Errorf("query 2 is NaN: score %s of query %d is %v", m.Scores()[s], i, v)
			}
		}
	}
	for _, bad := range []float32{float32(math.NaN()), float32(math.Inf(1))} {
		b := attack.Batch{Items: f.batch.Items, Clean: f.batch.Clean.Clone()}
		b.Clean.Row(1)[0] = bad
		if err := m.Aim(&b, 0); err == nil || !strings.Contains(err.Error(), f.a.Name) {
			t.Errorf("a clean embedding of %v: %v", bad, err)
		}
	}
}

// checkSmall runs the attack on galleries of a few items, and of one label: it says
// that they do not fit, or gives numbers.
func (f *field) checkSmall(t *testing.T) {
	if _, err := retrieval.NewGallery(array.New(0, dim), nil); err == nil {
		t.Error("a gallery of no images")
	}
	for n, label := range map[int][]int32{2: {0, 1}, 3: {0, 0, 1}, 4: {0, 0, 0, 0}} {
		x := f.g.X.Slice(0, n)
		g, err := retrieval.NewGallery(x, label)
		if err != nil {
			t.Fatal(err)
		}
		m, err := attack.NewMethod(f.a.Name, g, f.variant, attack.MethodOptions{})
		if err != nil {
			if !strings.Contains(err.Error(), f.a.Name) {
				t.Errorf("%d images: %v does not name the attack", n, err)
			}
			continue
		}
		if err := m.Aim(&attack.Batch{Items: []int{0}, Clean: x.Slice(0, 1)}, 0); err != nil {
			continue
		}
		z := f.z.Slice(0, 1)
		per, grad := evaluate(t, m, z)
		values := append(per, norm(grad.Row(0)))
		for _, s := range score(m, z) {
			values = append(values, s...)
		}
		for _, v := range values {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				t.Errorf("%d images: %v", n, values)
			}
		}
	}
}
