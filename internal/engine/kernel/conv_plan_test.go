package kernel

import (
	"fmt"
	"math"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"tercet/internal/par"
)

func square(size, c, out, k, stride, pad int) Conv {
	return Conv{H: size, W: size, C: c, OutC: out, KH: k, KW: k, StrideH: stride, StrideW: stride, PadH: pad, PadW: pad}
}

func withPlanning(t *testing.T, m planMode) {
	old := planning
	planning = m
	t.Cleanup(func() { planning = old })
}

func TestParsePlanMode(t *testing.T) {
	for name, want := range map[string]planMode{"": planAuto, "auto": planAuto, "measure": planMeasure, "off": planOff} {
		if got, err := parsePlanMode(name); err != nil || got != want {
			t.Errorf("%q: %v, %v", name, got, err)
		}
	}
	for _, name := range []string{"Off", "0", "winograd4"} {
		if _, err := parsePlanMode(name); err == nil || !strings.Contains(err.Error(), "auto, measure, off") {
			t.Errorf("%q: error %v", name, err)
		}
	}
}

// The variable is read at start, so each case is a process of its own.
func TestEnvironmentChoosesPlans(t *testing.T) {
	if os.Getenv("TERCET_TEST_CHILD") != "" {
		fmt.Printf("plan=%v error=%v\n", square(28, 64, 64, 3, 1, 1).Plan().Fwd, StartError())
		return
	}
	for value, want := range map[string]string{
		"":      "plan=winograd4 error=<nil>\n",
		"auto":  "plan=winograd4 error=<nil>\n",
		"off":   "plan=direct error=<nil>\n",
		"never": `plan=winograd4 error=environment variable TERCET_WINOGRAD: unknown choice "never" (valid: auto, measure, off)` + "\n",
	} {
		c := exec.Command(os.Args[0], "-test.run", "^TestEnvironmentChoosesPlans$")
		c.Env = append(os.Environ(), "TERCET_TEST_CHILD=1", EnvWinograd+"="+value)
		out, err := c.CombinedOutput()
		if err != nil || !strings.Contains(string(out), want) {
			t.Errorf("%q: %v: %s", value, err, out)
		}
	}
}

// Every plan computes the same up to the error of its algorithms, with bias,
// ReLU (of outputs that see nothing but padding, too) and the bias's gradient.
func TestPlanDispatch(t *testing.T) {
	for _, l := range Levels() {
		restore, err := Force(l)
		if err != nil {
			t.Fatal(err)
		}
		for _, g := range []Conv{
			square(9, 12, 20, 3, 1, 1), square(7, 10, 16, 5, 1, 2), square(9, 12, 20, 3, 2, 1),
			square(3, 12, 40, 2, 1, 4), square(6, 12, 40, 1, 1, 0),
		} {
			for _, n := range []int{2, 15} {
				planDispatch(t, g, n)
			}
		}
		restore()
	}
}

func planDispatch(t *testing.T, g Conv, n int) {
	t.Helper()
	oh, ow := g.Out()
	x, w, bias := random(1, n*g.H*g.W*g.C), random(2, g.patch()*g.OutC), random(3, g.OutC)
	dy, db0 := random(4, n*oh*ow*g.OutC), random(5, g.OutC)
	all := func(a Algorithm, relu bool) (y, rest []float32) {
		p := ConvPlan{Conv: g, Fwd: a, Input: a, Weights: a}
		y = make([]float32, len(dy))
		dx, dw, db := make([]float32, len(x)), slices.Clone(w), slices.Clone(db0)
		p.Forward(n, x, w, bias, relu, y)
		p.BackwardInput(n, dy, w, dx)
		p.BackwardWeights(n, x, dy, dw, db)
		return y, slices.Concat(dx, dw, db)
	}
	y, rest := all(Direct, false)
	for _, a := range g.algorithms() {
		linear, rest1 := all(a, false)
		rectified, _ := all(a, true)
		for i, v := range linear {
			if rectified[i] != max(v, 0) {
				t.Fatalf("%v of %+v: ReLU of %g is %g", a, g, v, rectified[i])
			}
			if math.Abs(float64(v-y[i])) > 1e-3 {
				t.Fatalf("%v of %+v: y[%d]: %g, direct %g", a, g, i, v, y[i])
			}
		}
		for i, v := range rest1 {
			if math.Abs(float64(v-rest[i])) > 4e-3 {
				t.Fatalf("%v of %+v: gradient %d: %g, direct %g", a, g, i, v, rest[i])
			}
		}
	}
}

// Weights that are kept give the same bits, and are forgotten when asked for.
func TestKeepWeights(t *testing.T) {
	for _, g := range []Conv{square(14, 32, 64, 5, 1, 2), square(8, 200, 160, 3, 1, 1), square(9, 3, 20, 3, 2, 1)} {
		p := g.ruledPlan(Current())
		oh, ow := g.Out()
		x, first, second := random(1, 3*g.H*g.W*g.C), random(2, g.KH*g.KW*g.C*g.OutC), random(3, g.KH*g.KW*g.C*g.OutC)
		pass := func(n int, w []float32) (all []float32) {
			y, dx := make([]float32, n*oh*ow*g.OutC), make([]float32, n*g.H*g.W*g.C)
			p.Forward(n, x[:len(dx)], w, nil, false, y)
			p.BackwardInput(n, y, w, dx)
			return append(y, dx...)
		}
		want := [][]float32{pass(3, first), pass(1, first), pass(2, second)}
		p.KeepWeights(true)
		got := [][]float32{pass(3, first), pass(1, first)}
		p.KeepWeights(true)
		got = append(got, pass(2, second))
		p.KeepWeights(false)
		got, want = append(got, pass(3, first)), append(want, want[0])
		for i := range want {
			if !slices.Equal(got[i], want[i]) {
				t.Errorf("%+v: call %d gives another result", p, i)
			}
		}
	}
}

func TestPlanModes(t *testing.T) {
	large, strided := square(28, 64, 64, 3, 1, 1), square(28, 64, 64, 3, 2, 1)
	withPlanning(t, planOff)
	if p := large.Plan(); p != (ConvPlan{Conv: large}) {
		t.Errorf("off: %+v", p)
	}
	planning = planAuto
	if p := strided.Plan(); p != (ConvPlan{Conv: strided}) {
		t.Errorf("stride 2: %+v", p)
	}
	planning = planMeasure
	small := square(6, 3, 4, 3, 1, 1)
	p := small.Plan()
	if p.Conv != small || p != small.Plan() {
		t.Errorf("measured %+v, then %+v", p, small.Plan())
	}
}

// A plan that fits must be computable: every choice of the rule over many shapes.
// A wrong size in a config is an error later on, not a failed allocation here.
func TestPlanOfHugeLayersIsNotMeasured(t *testing.T) {
	defer func(m planMode) { planning = m }(planning)
	planning = planMeasure
	for _, g := range []Conv{
		{H: 32, W: 32, C: 1, OutC: 1 << 20, KH: 3, KW: 3, StrideH: 1, StrideW: 1, PadH: 1, PadW: 1},
		{H: 16, W: 16, C: 1 << 20, OutC: 1 << 21, KH: 3, KW: 3, StrideH: 1, StrideW: 1, PadH: 1, PadW: 1},
		{H: 1 << 14, W: 1 << 14, C: 4, OutC: 4, KH: 3, KW: 3, StrideH: 1, StrideW: 1, PadH: 1, PadW: 1},
	} {
		if p, want := g.Plan(), g.ruledPlan(Current()); p != want {
			t.Errorf("%+v, want the rule's %+v", p, want)
		}
	}
	usual := Conv{H: 224, W: 224, C: 64, OutC: 64, KH: 3, KW: 3, StrideH: 1, StrideW: 1, PadH: 1, PadW: 1}
	if n := usual.measuredBatch(); n != 16 {
		t.Errorf("%+v is measured with %d images", usual, n)
	}
}

func TestRuleChoosesWhatFits(t *testing.T) {
	for _, l := range Levels() {
		for _, k := range []int{1, 3, 5, 7} {
			for pad := range k + 2 {
				for _, stride := range []int{1, 2} {
					for _, c := range []int{1, 3, 16, 94, 512} {
						g := square(14, c, 64, k, stride, pad)
						p := g.ruledPlan(l)
						for _, a := range []Algorithm{p.Fwd, p.Input, p.Weights} {
							if !slices.Contains(g.algorithms(), a) {
								t.Fatalf("%v: %+v: %v", l, g, a)
							}
						}
					}
				}
			}
		}
	}
}

// What the rule chooses for the layers that it was made from, and for tiny maps.
func TestRule(t *testing.T) {
	for _, c := range []struct {
		g                   Conv
		fwd, input, weights Algorithm
	}{
		{square(28, 1, 32, 5, 1, 2), Direct, Direct, Direct},
		{square(14, 32, 64, 5, 1, 2), Winograd4, Winograd4, Winograd4},
		{square(28, 1, 47, 3, 1, 1), Direct, Direct, Direct},
		{square(28, 47, 94, 3, 1, 1), Winograd4, Winograd4, Winograd4},
		{square(14, 94, 94, 3, 1, 1), Winograd4, Winograd4, Winograd4},
		{square(224, 3, 64, 7, 2, 3), Direct, Direct, Direct},
		{square(56, 64, 64, 3, 1, 1), Winograd4, Winograd4, Winograd4},
		{square(56, 64, 128, 3, 2, 1), Direct, Direct, Direct},
		{square(28, 128, 128, 3, 1, 1), Winograd4, Winograd4, Winograd4},
		{square(14, 256, 256, 3, 1, 1), Winograd4, Winograd4, Winograd4},
		{square(7, 512, 512, 3, 1, 1), Winograd4, Winograd4, Winograd4},
		{square(4, 256, 256, 3, 1, 1), Winograd4, Winograd4, Winograd4},
		{square(2, 512, 512, 3, 1, 1), Direct, Direct, Direct},
		{square(28, 8, 16, 3, 1, 1), Winograd4, Winograd4, Winograd4},
		{square(32, 3, 64, 3, 1, 1), Direct, Direct, Direct},
		{square(14, 256, 512, 1, 2, 0), Direct, Direct, Direct},
	} {
		for _, l := range []Level{AVX2, AVX512} {
			want := ConvPlan{Conv: c.g, Fwd: c.fwd, Input: c.input, Weights: c.weights}
			if got := c.g.ruledPlan(l); got != want {
				t.Errorf("%v: %+v, want %+v", l, got, want)
			}
		}
	}
}

func TestMultiplications(t *testing.T) {
	for _, c := range []struct {
		g    Conv
		a    Algorithm
		want int64
	}{
		{square(28, 3, 5, 3, 1, 1), Direct, 3 * 5 * 82 * 82}, // 3*28 but one at each end
		{square(28, 3, 5, 3, 1, 1), Winograd2, 3 * 5 * 14 * 14 * 16},
		{square(7, 3, 5, 3, 1, 1), Winograd4, 3 * 5 * 2 * 2 * 36},
		{square(14, 3, 5, 5, 1, 2), Winograd2, 3 * 5 * 7 * 7 * 36},
		{square(14, 3, 5, 5, 1, 2), Winograd4, 3 * 5 * 4 * 4 * 64},
		{square(14, 3, 5, 3, 2, 1), Winograd4, 3 * 5 * 20 * 20}, // does not fit: direct
		{square(2, 512, 512, 3, 1, 1), Direct, 512 * 512 * 16},
	} {
		if got := c.g.Multiplications(c.a); got != c.want {
			t.Errorf("%+v by %v: %d, want %d", c.g, c.a, got, c.want)
		}
	}
}

func TestConvAllocatesNothing(t *testing.T) {
	defer par.SetThreads(par.Threads())
	par.SetThreads(2)
	for name, g := range map[string]Conv{
		"few channels":      square(14, 3, 20, 5, 2, 2),
		"pixels":            square(31, 16, 20, 3, 1, 1),
		"images":            square(7, 24, 40, 3, 1, 1),
		"images, in phases": square(8, 24, 40, 3, 2, 1),
	} {
		const n = 15
		oh, ow := g.Out()
		x, w, bias := random(1, n*g.H*g.W*g.C), random(2, g.patch()*g.OutC), random(3, g.OutC)
		y := random(4, n*oh*ow*g.OutC)
		dx, dw, db := make([]float32, len(x)), make([]float32, len(w)), make([]float32, g.OutC)
		for pass, f := range map[string]func(){
			"forward": func() { g.Forward(n, x, w, bias, y) },
			"input":   func() { g.BackwardInput(n, y, w, dx) },
			"weights": func() { g.BackwardWeights(n, x, y, dw, db) },
		} {
			const calls = 30
			if got := allocations(calls, f); got >= calls {
				t.Errorf("%s, %s: %d allocations in %d calls", name, pass, got, calls)
			}
		}
	}
}

func TestSettingNamesWhatBitsDependOn(t *testing.T) {
	old := planning
	defer func() { planning = old }()
	level := Current().String()
	for mode, want := range map[planMode]string{planAuto: level, planOff: level + ", winograd off", planMeasure: level + ", winograd measure"} {
		planning = mode
		if got := Setting(); got != want || Measures() != (mode == planMeasure) {
			t.Errorf("mode %d: setting %q, measures %v; want %q", mode, got, Measures(), want)
		}
	}
}

func TestNameOfAnUnknownAlgorithm(t *testing.T) {
	if s := Algorithm(9).String(); s != "algorithm(9)" {
		t.Error(s)
	}
}
