package measure

import (
	"context"
	"math"
	"testing"

	"tercet/internal/engine/mahalanobis"
	"tercet/internal/record"
	"tercet/internal/rng"
	"tercet/internal/testutil"
)

func TestGapAgainstNumpy(t *testing.T) {
	g, source, rrm := readGolden(t)
	rrm.Tol = 1e-12
	r, err := Gap(context.Background(), GapOptions{Source: source, Learner: rrm, Sizes: source.sizes(), Repeats: 2, Errors: true})
	if err != nil {
		t.Fatal(err)
	}
	testutil.Near(t, "R_S", r.Train.Value, g.Train, 1e-10)
	testutil.Near(t, "R", r.Test.Value, g.Test, 1e-10)
	testutil.Near(t, "raw gap", r.Raw.Value, g.Test-g.Train, 1e-10)
	testutil.Near(t, "absolute gap", r.Absolute.Value, math.Abs(g.Test-g.Train), 1e-10)
	testutil.Near(t, "gap", r.Gap.Value, g.Gap, 1e-10)
	testutil.Near(t, "norm", r.Norm.Value, g.Norm, 1e-10)
	testutil.Near(t, "training error", r.Errors.Train.Value, g.ErrorTrain, 1e-12)
	testutil.Near(t, "test error", r.Errors.Test.Value, g.ErrorTest, 1e-12)
	testutil.Near(t, "Euclidean error", r.Errors.Euclidean.Value, g.ErrorEuclidean, 1e-12)
	// M lies between the loss at a point and what L ||w|| allows.
	if m := r.MeanLoss; m < math.Log1p(math.Exp(g.Zeta)) || m > math.Log1p(math.Exp(g.Zeta))+4*g.Norm || m != r.LargestLoss {
		t.Errorf("M is %g, largest loss %g", m, r.LargestLoss)
	}
}

// coins draws each positive from two numbers and each negative from two others: all
// expectations are finite sums.
type coins struct{}

var heads = [2][2]float64{{-.5, 1}, {-1, .3}}

func (coins) Dim() int        { return 1 }
func (coins) Radius() float64 { return 1 }
func (c coins) Draw(sample, held record.Sizes, r *rng.Stream) (s, h *mahalanobis.Problem, err error) {
	flip := func(n record.Sizes) *mahalanobis.Problem {
		p := &mahalanobis.Problem{D: 1}
		for range n.Pos {
			p.Positive = append(p.Positive, heads[0][r.IntN(2)])
		}
		for range n.Neg {
			p.Negative = append(p.Negative, heads[1][r.IntN(2)])
		}
		return p
	}
	return flip(sample), flip(held), nil
}
func (coins) Reference() (*mahalanobis.Problem, error) {
	return &mahalanobis.Problem{Positive: []float64{-.5, 1}, Negative: []float64{.3}, D: 1}, nil
}

// Risk is the mean over all eight triplets of independent points.
func (coins) Risk(l mahalanobis.Loss, theta []float64) float64 {
	sum := 0.0
	for _, x := range heads[0] {
		for _, y := range heads[0] {
			for _, z := range heads[1] {
				v, _, _ := l.At(theta[0]*((x-y)*(x-y)-(x-z)*(x-z)) + l.Zeta)
				sum += v / 8
			}
		}
	}
	return sum
}

// With least squares in one dimension w = -zeta mean(v)/(mean(v^2) + sigma). For n+ = 2
// and n- = 1 the expectations of Definition 2 and of the gap are sums over 8 and 64
// cases, and they are one number; both estimates must lie within their errors of it.
func TestOnAverageStabilityIsTheExpectedGap(t *testing.T) {
	const sigma, zeta = .2, .5
	l := lossOf(t, mahalanobis.LeastSquares, zeta)
	learn := func(x, y, z float64) float64 {
		a, b := (x-y)*(x-y)-(x-z)*(x-z), (y-x)*(y-x)-(y-z)*(y-z)
		return -zeta * (a + b) / 2 / ((a*a+b*b)/2 + sigma)
	}
	at := func(w, x, y, z float64) float64 {
		u := w*((x-y)*(x-y)-(x-z)*(x-z)) + zeta
		return u * u / 2
	}
	gap, average := 0.0, 0.0
	pick := func(n int) (x, y, z float64) { return heads[0][n&1], heads[0][n>>1&1], heads[1][n>>2&1] }
	for n := range 8 {
		x, y, z := pick(n)
		w := learn(x, y, z)
		gap += (coins{}.Risk(l, []float64{w}) - (at(w, x, y, z)+at(w, y, x, z))/2) / 8
		for m := range 8 {
			v := learn(pick(m)) // i, j, k are all of S
			average += (at(v, x, y, z) - at(w, x, y, z) + at(v, y, x, z) - at(w, y, x, z)) / 2 / 64
		}
	}
	testutil.Near(t, "identity", average, gap, 1e-15)
	if gap < .01 {
		t.Fatalf("the gap, %g, is too small to be told from 0", gap)
	}
	a := RRM{Loss: l, Sigma: record.Scale{Factor: sigma}}
	measured, err := OnAverage(context.Background(), OnAverageOptions{Source: coins{}, Learner: a, Sizes: record.Sizes{Pos: 2, Neg: 1}, Repeats: 2000, Triples: 2, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	testutil.Near(t, "on average", measured.Value.Value, average, 3**measured.Value.SE)
	if *measured.Value.SE > gap/4 {
		t.Errorf("standard error %g", *measured.Value.SE)
	}
	g, err := Gap(context.Background(), GapOptions{Source: coins{}, Learner: a, Sizes: record.Sizes{Pos: 2, Neg: 1}, Held: record.Sizes{Pos: 2, Neg: 1}, Repeats: 2000, Triplets: 10, Seed: 2})
	if err != nil {
		t.Fatal(err)
	}
	testutil.Near(t, "gap", g.Gap.Value, gap, 3**g.Gap.SE)
	testutil.Near(t, "raw gap", g.Raw.Value, gap, 3**g.Raw.SE)
}

// The same identity for SGD, whose two measurements share nothing but the law.
func TestOnAverageStabilityOfSGD(t *testing.T) {
	a := SGD{Loss: lossOf(t, mahalanobis.Logistic, .1), C: .5, Steps: record.Scale{Factor: 1, Power: 1}, Radius: 1}
	n := record.Sizes{Pos: 6, Neg: 6}
	m, err := OnAverage(context.Background(), OnAverageOptions{Source: coins{}, Learner: a, Sizes: n, Repeats: 1500, Triples: 8, Seed: 3})
	if err != nil {
		t.Fatal(err)
	}
	g, err := Gap(context.Background(), GapOptions{Source: coins{}, Learner: a, Sizes: n, Held: record.Sizes{Pos: 2, Neg: 1}, Repeats: 1500, Triplets: 10, Seed: 4})
	if err != nil {
		t.Fatal(err)
	}
	both := math.Hypot(*m.Value.SE, *g.Gap.SE)
	testutil.Near(t, "identity", m.Value.Value, g.Gap.Value, 3*both)
	if g.Gap.Value < 4*both {
		t.Errorf("gap %g, error %g: nothing is told", g.Gap.Value, both)
	}
}

// constant returns one w whatever the sample.
type constant struct{ RRM }

func (c constant) fixed(record.Sizes) Learner { return c }

func (c constant) Learn(context.Context, *mahalanobis.Problem, uint64, []float64) (Learned, error) {
	return Learned{Theta: mahalanobis.Identity(3)}, nil
}

// What does not depend on the sample has no gap: with the control variate it is 0 in
// every repeat, without it is noise.
func TestControlVariate(t *testing.T) {
	a := constant{RRM{Loss: lossOf(t, mahalanobis.Logistic, .1), Sigma: record.Scale{Factor: 1}}}
	g, err := Gap(context.Background(), GapOptions{Source: clouds{}, Learner: a, Sizes: record.Sizes{Pos: 20, Neg: 15}, Held: record.Sizes{Pos: 10, Neg: 30}, Repeats: 5, Triplets: 10, Seed: 5})
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range g.Values {
		testutil.Near(t, "gap", v, 0, 1e-14)
	}
	if *g.Raw.SE < 1e-3 {
		t.Errorf("standard error %g without the control variate", *g.Raw.SE)
	}
}

func TestGapMoves(t *testing.T) {
	_, source, rrm := readGolden(t)
	g, err := Gap(context.Background(), GapOptions{Source: source, Learner: rrm, Sizes: source.sizes(), Repeats: 1, Moves: 2})
	if err != nil {
		t.Fatal(err)
	}
	u, err := Uniform(context.Background(), UniformOptions{Source: still{source.s, source.h, nil, 1}, Learner: rrm, Sizes: source.sizes(), Repeats: 1, Triplets: 10})
	if err != nil {
		t.Fatal(err)
	}
	if v := g.MovedPos.Value; v <= 0 || v > u.Moved.Value*u.Moved.Value {
		t.Errorf("fresh positives moved w by %g squared, adversarial ones by at most %g", v, u.Moved.Value*u.Moved.Value)
	}
	if v := g.MovedNeg.Value; v <= 0 || v > u.Moved.Value*u.Moved.Value {
		t.Errorf("fresh negatives moved w by %g squared", v)
	}
}
