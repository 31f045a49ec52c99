package loss

import (
	"math"
	"testing"

	"tercet/internal/engine/array"
	"tercet/internal/rng"
)

// noiseModel are the probabilities of the four ways in which a triplet is right or
// wrong, first the positive, then the negative.
type noiseModel struct{ w11, w10, w01, w00 float64 }

func independent(beta, gamma float64) noiseModel {
	return noiseModel{beta * gamma, beta * (1 - gamma), (1 - beta) * gamma, (1 - beta) * (1 - gamma)}
}

func noiseModels() []noiseModel {
	return []noiseModel{
		independent(0.8, 0.9), independent(0.55, 0.98), independent(0.3, 0.95), independent(1, 0.9), independent(1, 1),
		{0.8, 0, 0, 0.2},                 // order flips: nothing is ambiguous
		{0.85, 0.05, 0.05, 0.05},         // single-label noise on two classes, q~ = 0.2: dependent
		{0.6252, 0.0148, 0.3348, 0.0252}, // on ten, q~ = 0.4
	}
}

// world is two classes of finitely many embeddings, each as likely as the others of
// its class; prior is the probability that an anchor is of the first.
type world struct {
	z     *array.Array
	class [2][]int32
	prior [2]float64
}

func newWorld(scale float64) world {
	w := world{z: random(rng.New(1, "world"), 9, 3, scale), prior: [2]float64{0.3, 0.7}}
	for i := range int32(9) {
		c := 0
		if i >= 4 {
			c = 1
		}
		w.class[c] = append(w.class[c], i)
		w.z.Row(int(i))[0] += float32(scale * float64(2*c))
	}
	return w
}

// mean returns the exact expectation of an objective over triplets drawn
// independently, whose positive and negative are of the anchor's class or not.
func (w world) mean(t *testing.T, l Objective, pSame, nSame bool) float64 {
	t.Helper()
	sum := 0.0
	for c, prior := range w.prior {
		of := func(same bool) []int32 {
			if same {
				return w.class[c]
			}
			return w.class[1-c]
		}
		var ts []Triplet
		for _, a := range w.class[c] {
			for _, p := range of(pSame) {
				for _, n := range of(nSame) {
					ts = append(ts, Triplet{a, p, n})
				}
			}
		}
		res, err := l.Eval(w.z, &Tuples{Triplets: ts}, nil)
		if err != nil {
			t.Fatal(err)
		}
		sum += prior * res.Loss
	}
	return sum
}

// noisy returns the expectation under noise: E_g, by the four cases.
func (w world) noisy(t *testing.T, l Objective, m noiseModel) float64 {
	t.Helper()
	return m.w11*w.mean(t, l, true, false) + m.w10*w.mean(t, l, true, true) + m.w01*w.mean(t, l, false, false) + m.w00*w.mean(t, l, false, true)
}

// What the forms promise of their expectation under noise, E_g, against that of clean
// triplets, E_p, holds exactly, for independent errors and dependent ones. A and B are
// the plain loss on clean triplets and on reversed ones, amb is it on ambiguous ones.
func TestRobustExpectationUnderNoise(t *testing.T) {
	for _, scale := range []float64{0.1, 0.4, 1} { // within the margin, about it, far past it
		w := newWorld(scale)
		for _, distance := range everyDistance() {
			for _, alpha := range []float64{0.2, 1} {
				plain := make1(t, TripletOptions{alpha, distance, Hinge, Mean, 0})
				a, b := w.mean(t, plain, true, false), w.mean(t, plain, false, true)
				for _, m := range noiseModels() {
					w1, w2 := m.w11, m.w00
					contrast, rest := w1-w2, m.w10+m.w01
					amb := 0.0
					if rest > 0 {
						amb = (m.w10*w.mean(t, plain, true, true) + m.w01*w.mean(t, plain, false, false)) / rest
					}
					for _, normalize := range []bool{false, true} {
						size := 1.0
						if normalize {
							size = contrast
						}
						for form, want := range map[RobustForm]func(clean float64) float64{
							RobustExpected: func(float64) float64 { return ((w1*w1+w2*w2)*a + 2*w1*w2*b + (w1+w2)*rest*amb) / size },
							RobustBackward: func(float64) float64 { return a + rest/(w1+w2)*amb },
							RobustOdd:      func(clean float64) float64 { return contrast * clean },
							RobustSigmoid:  func(clean float64) float64 { return contrast*clean + (rest/2+w2)/size },
						} {
							l := makeRobust(t, RobustOptions{Margin: alpha, Distance: distance, Form: form, W1: w1, W2: w2, Temperature: 0.3, Rescale: normalize, Reduce: Mean})
							got := w.noisy(t, l, m)
							if want := want(w.mean(t, l, true, false)); math.Abs(got-want) > 1e-12*(1+math.Abs(want)) {
								t.Errorf("%s %s alpha %v scale %v %+v normalize %v: E_g is %v, want %v", form, distance, alpha, scale, m, normalize, got, want)
							}
						}
					}
				}
			}
		}
	}
}

// w1 - w2 is beta + gamma - 1, also for dependent errors.
func TestNoiseModelsContrast(t *testing.T) {
	for _, m := range noiseModels() {
		beta, gamma := m.w11+m.w10, m.w11+m.w01
		if s := m.w11 + m.w10 + m.w01 + m.w00; math.Abs(s-1) > 1e-12 || math.Abs(m.w11-m.w00-(beta+gamma-1)) > 1e-12 {
			t.Errorf("%+v: sum %v, beta %v, gamma %v", m, s, beta, gamma)
		}
	}
}

// Symmetric draws do not make the hinge symmetric (N2): over ambiguous triplets the
// plain loss is alpha + E(|D|-alpha)_+ / 2, constant only within the margin.
func TestAmbiguousTripletsCost(t *testing.T) {
	const alpha = 0.5
	plain := make1(t, TripletOptions{alpha, Squared, Hinge, Mean, 0})
	odd := makeRobust(t, RobustOptions{Margin: alpha, Distance: Squared, Form: RobustOdd, W1: 0.7, W2: 0.1, Reduce: Mean})
	for _, scale := range []float64{0.02, 0.3, 1} {
		w := newWorld(scale)
		x := rowsOf(w.z)
		for _, same := range []bool{true, false} {
			want, largest := alpha, 0.0
			for c, prior := range w.prior {
				other := w.class[1-c]
				if same {
					other = w.class[c]
				}
				for _, a := range w.class[c] {
					for _, p := range other {
						for _, n := range other {
							d := math.Abs(math.Pow(norm(minus(x[a], x[p])), 2) - math.Pow(norm(minus(x[a], x[n])), 2))
							largest = max(largest, d)
							want += prior * math.Max(0, d-alpha) / 2 / float64(len(w.class[c])*len(other)*len(other))
						}
					}
				}
			}
			got := w.mean(t, plain, same, same)
			if math.Abs(got-want) > 1e-12*want || (got > alpha+1e-12) != (largest > alpha) {
				t.Errorf("scale %v same %v: %v, want %v (|D| up to %v)", scale, same, got, want, largest)
			}
			if got := w.mean(t, odd, same, same); math.Abs(got) > 1e-12 {
				t.Errorf("scale %v same %v: the odd form costs %v", scale, same, got)
			}
		}
	}
}

// gaussians are draws of x in R^2 from two classes N(+-(1.5, 0), I): anchors, and
// two more points each, of the anchor's class or not. Row 3i is an anchor.
func gaussians(r *rng.Stream, draws int, pSame, nSame bool) *array.Array {
	x := array.New(3*draws, 2)
	for i := range draws {
		side := 1.5
		if r.IntN(2) == 0 {
			side = -side
		}
		for j, same := range [3]bool{true, pSame, nSame} {
			mu := side
			if !same {
				mu = -side
			}
			row := x.Row(3*i + j)
			row[0], row[1] = float32(mu+r.NormFloat64()), float32(r.NormFloat64())
		}
	}
	return x
}

// slopeIn returns the loss on z = s x and its derivative in s, through dLoss/dz.
func slopeIn(t *testing.T, l Objective, x *array.Array, s float32, ts []Triplet) (value, slope float64) {
	t.Helper()
	z, grad := x.Clone(), x.Clone()
	for i := range z.Data {
		z.Data[i] *= s
	}
	res, err := l.Eval(z, &Tuples{Triplets: ts}, grad)
	if err != nil {
		t.Fatal(err)
	}
	for i, g := range grad.Data {
		slope += float64(g) * float64(x.Data[i])
	}
	return res.Loss, slope
}

// The appendix claims that the expected gradient of ambiguous triplets is zero (N1).
// With f(x) = s x it is s E|delta| 1{s^2 |delta| > alpha}, delta = |a-p|^2 - |a-n|^2: it
// shrinks the embedding. The table is that of a simulation of 10^6 draws in NumPy. It
// is zero for the forms whose value at D and at -D add to a constant.
func TestAmbiguousTripletsShrink(t *testing.T) {
	const draws = 40000
	ts := make([]Triplet, 0, 2*draws) // each draw in both orders: they are as likely
	for i := range int32(draws) {
		ts = append(ts, Triplet{3 * i, 3*i + 1, 3*i + 2}, Triplet{3 * i, 3*i + 2, 3*i + 1})
	}
	plain := make1(t, TripletOptions{1, Squared, Hinge, Mean, 0})
	robust := func(form RobustForm) *RobustLoss {
		return makeRobust(t, RobustOptions{Margin: 1, Distance: Squared, Form: form, W1: 0.75, W2: 0.25, Temperature: 1, Reduce: Mean})
	}
	for _, c := range []struct {
		name  string
		same  bool
		table map[float32][2]float64 // s: dE/ds and what 40,000 draws and its digits may miss it by
	}{
		{"both of the other class", false, map[float32][2]float64{0.05: {0, 1e-12}, 0.2: {0.13, 0.015}, 0.5: {3.3, 0.15}, 1: {7.3, 0.2}}},
		{"both of the anchor's class", true, map[float32][2]float64{0.05: {0, 1e-12}, 0.2: {0.004, 0.003}, 0.5: {1.2, 0.1}, 1: {3.3, 0.15}}},
	} {
		x := gaussians(rng.New(7, "shrink"), draws, c.same, c.same)
		rows := rowsOf(x)
		for s, table := range c.table {
			_, got := slopeIn(t, plain, x, s, ts)
			want := 0.0
			for i := range draws {
				a, p, n := rows[3*i], rows[3*i+1], rows[3*i+2]
				if d := math.Abs(math.Pow(norm(minus(a, p)), 2) - math.Pow(norm(minus(a, n)), 2)); float64(s)*float64(s)*d > 1 {
					want += float64(s) * d / draws
				}
			}
			if math.Abs(got-want) > 1e-3*(1e-3+want) {
				t.Errorf("%s, s = %v: dE/ds is %v, the closed form gives %v", c.name, s, got, want)
			}
			if math.Abs(got-table[0]) > table[1] {
				t.Errorf("%s, s = %v: dE/ds is %v, the table has %v", c.name, s, got, table[0])
			}
			t.Logf("%s, s = %v: dE/ds %.4f", c.name, s, got)
			for form, part := range map[RobustForm]float64{RobustExpected: 1, RobustBackward: 1, RobustOdd: 0, RobustSigmoid: 0} {
				// (w1+w2) of it for eq. 4, 1/(w1+w2) of it for the correction; here both are 1.
				if _, g := slopeIn(t, robust(form), x, s, ts); math.Abs(g-part*got) > 1e-5*(1+got) {
					t.Errorf("%s, s = %v: dE/ds of %s is %v, want %v", c.name, s, form, g, part*got)
				}
			}
		}
	}
}

// What eq. 3 leaves out of eq. 2 is as large as what it keeps: beta = 0.8, gamma =
// 0.9, s = 1, alpha = 1, against a simulation of 10^6 draws in NumPy.
func TestDroppedPartIsNotSmall(t *testing.T) {
	const draws = 60000
	ts := make([]Triplet, draws)
	for i := range ts {
		ts[i] = Triplet{int32(3 * i), int32(3*i + 1), int32(3*i + 2)}
	}
	m := independent(0.8, 0.9)
	plain := make1(t, TripletOptions{1, Squared, Hinge, Mean, 0})
	of := func(l Objective, pSame, nSame bool) float64 {
		v, _ := slopeIn(t, l, gaussians(rng.New(8, "dropped"), draws, pSame, nSame), 1, ts)
		return v
	}
	eq3 := makeRobust(t, RobustOptions{Margin: 1, Distance: Squared, Form: RobustExpected, W1: m.w11, W2: m.w00, Reduce: Mean})
	odd := makeRobust(t, RobustOptions{Margin: 1, Distance: Squared, Form: RobustOdd, W1: m.w11, W2: m.w00, Reduce: Mean})
	kept := of(eq3, true, false)
	dropped := m.w01*of(plain, false, false) + m.w10*of(plain, true, true)
	noisy := m.w11*of(odd, true, false) + m.w10*of(odd, true, true) + m.w01*of(odd, false, false) + m.w00*of(odd, false, true)
	clean := (m.w11 - m.w00) * of(odd, true, false)
	t.Logf("kept %.3f, dropped %.3f; odd under noise %.3f, (beta+gamma-1) times clean %.3f", kept, dropped, noisy, clean)
	if math.Abs(kept-0.785) > 0.03 || math.Abs(dropped-0.943) > 0.03 {
		t.Errorf("kept %v, want 0.785; dropped %v, want 0.943", kept, dropped)
	}
	if math.Abs(clean+6.781) > 0.1 || math.Abs(noisy-clean) > 0.1 {
		t.Errorf("odd under noise %v, (beta+gamma-1) times clean %v, want -6.781", noisy, clean)
	}
}
