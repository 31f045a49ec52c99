package theory

import (
	"context"
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"

	"tercet/internal/noise"
	"tercet/internal/par"
	"tercet/internal/record"
	"tercet/internal/record/printed"
	"tercet/internal/testutil"
	"tercet/internal/verdict"
)

func simulated(t *testing.T, o SimOptions) *printed.Simulation {
	t.Helper()
	if o.Negatives == "" {
		o.Negatives = noise.SameIndex
	}
	s, err := Simulate(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// se is the standard error of a mean of n draws.
func se(m record.Mean, n int) float64 { return *m.SD / math.Sqrt(float64(n)) }

// Means and standard errors of the reference, found by another solver on other draws.
func TestSimulationMeetsTheReference(t *testing.T) {
	for _, w := range []struct {
		classes, perClass, draws int
		p, multicut, error       float64
		upper                    string
	}{
		{10, 20, 40, 0.1, 0.0367, 0.0016, verdict.Contradicted},
		{5, 20, 200, 0.1, 0.0435, 0.0024, verdict.Contradicted},
		{3, 6, 400, 0.2, 0.1028, 0.0081, verdict.Contradicted},
	} {
		s := simulated(t, SimOptions{Classes: w.classes, PerClass: w.perClass, P: w.p, Draws: w.draws, Seed: 1})
		if d := s.Multicut.Value - w.multicut; math.Abs(d) > 2*math.Hypot(w.error, se(s.Multicut, w.draws)) {
			t.Errorf("%d x %d: multicut %v (standard error %v), the reference has %v ± %v", w.classes, w.perClass, s.Multicut.Value, se(s.Multicut, w.draws), w.multicut, w.error)
		}
		if d := s.FloorDuplicates.Value - s.Expected; math.Abs(d) > 3*se(s.FloorDuplicates, w.draws) {
			t.Errorf("%d x %d: duplicates %v, expected %v", w.classes, w.perClass, s.FloorDuplicates.Value, s.Expected)
		}
		if d := s.Wrong.Value - w.p; math.Abs(d) > 3*se(s.Wrong, w.draws) {
			t.Errorf("%d x %d: %v of the pairs are wrong", w.classes, w.perClass, s.Wrong.Value)
		}
		if s.Proven != w.draws || s.MulticutLower != nil || len(s.Draws) != w.draws {
			t.Errorf("%d x %d: %d of %d are proven", w.classes, w.perClass, s.Proven, len(s.Draws))
		}
		m := s.Theorem.Multicut
		if m.Lower.Verdict != verdict.Supported || m.Upper.Verdict != w.upper || m.Corollary != "" {
			t.Errorf("%d x %d: verdicts %+v", w.classes, w.perClass, m)
		}
		for i, d := range s.Draws {
			if d.Draw != i || d.Duplicates > d.Errors || d.Errors > d.Wrong {
				t.Errorf("%d x %d: draw %d is %+v", w.classes, w.perClass, i, d)
			}
		}
	}
}

// For two classes the upper bound holds and the corollary's equality does not.
func TestSimulationOfTwoClasses(t *testing.T) {
	s := simulated(t, SimOptions{Classes: 2, PerClass: 200, P: 0.2, Draws: 150, Seed: 2})
	if d := s.Multicut.Value - 0.0883; math.Abs(d) > 2*math.Hypot(0.0023, se(s.Multicut, 150)) {
		t.Errorf("multicut %v, the reference has 0.0883 ± 0.0023", s.Multicut.Value)
	}
	want := printed.TheoremChecks{Lower: printed.TheoremCheck{Verdict: verdict.Supported, Draws: s.Theorem.Multicut.Lower.Draws}, Upper: printed.TheoremCheck{Verdict: verdict.Supported, Draws: s.Theorem.Multicut.Upper.Draws}, Corollary: verdict.Contradicted}
	if s.Theorem.Multicut != want {
		t.Errorf("verdicts %+v", s.Theorem.Multicut)
	}
	if c := s.Theorem.FloorDuplicates; c.Corollary != verdict.Supported || c.Lower.Verdict != verdict.Supported || c.Upper.Verdict != verdict.Supported {
		t.Errorf("duplicates: %+v", c)
	}
}

// The expected floor against the average over all choices of partners and all labels.
func TestExpectedFloorAgreesWithEnumeration(t *testing.T) {
	for _, c := range []struct {
		classes, perClass int
		negatives         string
	}{
		{2, 2, noise.SameIndex}, {3, 2, noise.SameIndex}, {3, 3, noise.SameIndex}, {4, 2, noise.SameIndex},
		{2, 2, noise.RandomOne}, {2, 3, noise.RandomOne}, {3, 2, noise.RandomOne},
	} {
		const p = 0.3
		nodes := c.classes * c.perClass
		options := c.classes - 1 // of the different pair of a node
		if c.negatives == noise.RandomOne {
			options *= c.perClass
		}
		graphs := int(math.Pow(float64(options), float64(nodes)) + 0.5)
		sum := 0.0
		for code := range graphs {
			count := map[[2]int]int{}
			for i, rest := 0, code; i < nodes; i, rest = i+1, rest/options {
				choice, class, index := rest%options, i/c.perClass, i%c.perClass
				next := class*c.perClass + (index+1)%c.perClass
				count[[2]int{min(i, next), max(i, next)}]++
				if c.negatives == noise.RandomOne {
					choice, index = choice/c.perClass, choice%c.perClass
				}
				j := (class+1+choice)%c.classes*c.perClass + index
				count[[2]int{min(i, j), max(i, j)}]++
			}
			for _, n := range count {
				if n == 2 {
					sum += 2 * p * (1 - p)
				} else if n > 2 {
					t.Fatalf("a pair occurs %d times", n)
				}
			}
		}
		want := sum / float64(graphs) / float64(2*nodes)
		if got := duplicatesFloor(c.classes, c.perClass, p, c.negatives); !testutil.WithinRelative(got, want, 1e-12) {
			t.Errorf("%+v: %v, enumeration gives %v", c, got, want)
		}
	}
}

// Random negatives are seldom duplicates, and the theorem does not speak of them; as
// partitions go they are no easier.
func TestSimulationOfRandomNegatives(t *testing.T) {
	s := simulated(t, SimOptions{Classes: 5, PerClass: 20, P: 0.1, Draws: 60, Negatives: noise.RandomOne})
	if s.Theorem != nil {
		t.Error("a verdict on a theorem about other graphs")
	}
	if math.Abs(s.Expected-0.0005625) > 1e-12 || math.Abs(s.FloorDuplicates.Value-s.Expected) > 3*se(s.FloorDuplicates, 60) {
		t.Errorf("duplicates %v, expected %v", s.FloorDuplicates.Value, s.Expected)
	}
	if s.Multicut.Value < 0.03 {
		t.Errorf("multicut %v", s.Multicut.Value)
	}
}

func TestSimulationWithoutNoise(t *testing.T) {
	s := simulated(t, SimOptions{Classes: 4, PerClass: 5, Draws: 3})
	if s.Multicut.Value != 0 || s.FloorDuplicates.Value != 0 || s.Wrong.Value != 0 || s.Clusters.Value > 4 {
		t.Errorf("%+v", s)
	}
	if c := s.Theorem.Multicut; c.Lower != (printed.TheoremCheck{Verdict: verdict.Supported, Draws: 3}) || c.Upper != (printed.TheoremCheck{Verdict: verdict.Supported, Draws: 3}) {
		t.Errorf("verdicts %+v", c)
	}
}

func TestSimulationDoesNotDependOnThreads(t *testing.T) {
	defer par.SetThreads(0)
	o := SimOptions{Classes: 4, PerClass: 12, P: 0.15, Draws: 9, Seed: 5}
	par.SetThreads(1)
	one := simulated(t, o)
	par.SetThreads(3)
	if three := simulated(t, o); !reflect.DeepEqual(one, three) {
		t.Errorf("%+v\n%+v", one, three)
	}
	o.Draws = 4 // a longer simulation begins with a shorter one's draws
	if few := simulated(t, o); !reflect.DeepEqual(one.Draws[:4], few.Draws) {
		t.Errorf("%+v\n%+v", one.Draws[:4], few.Draws)
	}
	o.Seed++
	if other := simulated(t, o); reflect.DeepEqual(one.Draws[:4], other.Draws) {
		t.Error("two seeds give the same draws")
	}
}

// A search that ends at its limit says so, and what it says is true.
func TestSimulationAtTheLimit(t *testing.T) {
	o := SimOptions{Classes: 10, PerClass: 20, P: 0.2, Draws: 12}
	full := simulated(t, o)
	o.Limits = FloorLimits{Nodes: 1, Work: 1}
	s := simulated(t, o)
	if s.Proven == len(s.Draws) || s.MulticutLower == nil || s.MulticutLower.Value >= s.Multicut.Value {
		t.Fatalf("all of %d are proven under a limit of one multiplication", s.Proven)
	}
	for i, d := range s.Draws {
		if best := full.Draws[i].Errors; d.Lower > best || d.Errors < best || d.Lower < d.Duplicates || d.Proven != (d.Lower == d.Errors) {
			t.Errorf("draw %d: %+v, the optimum is %d", i, d, best)
		}
	}
}

func TestSimulationCanBeStopped(t *testing.T) {
	defer par.SetThreads(0)
	par.SetThreads(1)
	ctx, cancel := context.WithCancel(context.Background())
	o := SimOptions{Classes: 3, PerClass: 5, P: 0.1, Draws: 50, Negatives: noise.SameIndex}
	calls := 0
	o.Done = func(printed.Draw) {
		if calls++; calls == 3 {
			cancel()
		}
	}
	s, err := Simulate(ctx, o)
	if !errors.Is(err, context.Canceled) || s == nil || len(s.Draws) != 3 || s.Wanted != 50 || s.Draws[2].Draw != 2 {
		t.Errorf("%+v, %v", s, err)
	}
	if s, err = Simulate(ctx, o); !errors.Is(err, context.Canceled) || s != nil {
		t.Errorf("%+v, %v", s, err)
	}
}

func TestSimulateRefuses(t *testing.T) {
	good := SimOptions{Classes: 3, PerClass: 5, P: 0.1, Draws: 2, Negatives: noise.SameIndex}
	for want, change := range map[string]func(o *SimOptions){
		"number of classes is 1":  func(o *SimOptions) { o.Classes = 1 },
		"noise is 0.6":            func(o *SimOptions) { o.P = 0.6 },
		`negatives are "nearest"`: func(o *SimOptions) { o.Negatives = "nearest" },
		"number of draws is 0":    func(o *SimOptions) { o.Draws = 0 },
		"too many to draw":        func(o *SimOptions) { o.PerClass = 1 << 20 },
		"limits of -1 nodes":      func(o *SimOptions) { o.Limits.Nodes = -1 },
	} {
		o := good
		change(&o)
		if _, err := Simulate(context.Background(), o); !errors.Is(err, ErrInput) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
