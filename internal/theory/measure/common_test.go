package measure

import (
	"math"
	"testing"

	"tercet/internal/engine/mahalanobis"
	"tercet/internal/record"
	"tercet/internal/rng"
	"tercet/internal/testutil"
)

// still returns the same problems every time: what is measured on them has golden
// values.
type still struct {
	s, h, ref *mahalanobis.Problem
	radius    float64
}

func (f still) Dim() int        { return f.s.D }
func (f still) Radius() float64 { return f.radius }
func (f still) Draw(record.Sizes, record.Sizes, *rng.Stream) (s, h *mahalanobis.Problem, err error) {
	return f.s, f.h, nil
}
func (f still) Reference() (*mahalanobis.Problem, error) { return f.ref, nil }
func (f still) sizes() record.Sizes                      { return record.Sizes{Pos: f.s.NPos(), Neg: f.s.NNeg()} }

func problem(t testing.TB, pos, neg []float64, d int) *mahalanobis.Problem {
	t.Helper()
	p, err := mahalanobis.NewProblem(pos, neg, d, 1)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func lossOf(t testing.TB, name string, zeta float64) mahalanobis.Loss {
	t.Helper()
	l, err := mahalanobis.NewLoss(name, zeta, 1)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// clouds are the reference's two Gaussian clouds, drawn into the unit ball of three
// dimensions: centers +-0.25 e_1, deviations 0.1, 0.35, 0.35.
type clouds struct{}

func (clouds) Dim() int        { return 3 }
func (clouds) Radius() float64 { return 1 }
func (c clouds) Draw(sample, held record.Sizes, r *rng.Stream) (s, h *mahalanobis.Problem, err error) {
	return c.problem(sample, r), c.problem(held, r), nil
}
func (c clouds) Reference() (*mahalanobis.Problem, error) {
	return c.problem(record.Sizes{Pos: 100, Neg: 100}, rng.New(99, "clouds")), nil
}

func (clouds) problem(n record.Sizes, r *rng.Stream) *mahalanobis.Problem {
	points := func(n int, center float64) []float64 {
		out := make([]float64, 3*n)
		for i := 0; i < len(out); i += 3 {
			x := out[i : i+3]
			x[0], x[1], x[2] = center+0.1*r.NormFloat64(), 0.35*r.NormFloat64(), 0.35*r.NormFloat64()
			if far := math.Sqrt(x[0]*x[0] + x[1]*x[1] + x[2]*x[2]); far > 1 {
				for j := range x {
					x[j] /= far
				}
			}
		}
		return out
	}
	return &mahalanobis.Problem{Positive: points(n.Pos, .25), Negative: points(n.Neg, -.25), D: 3}
}

// golden is testdata/golden.json, made by testdata/scripts/golden.py.
type golden struct {
	D                 int                `json:"d"`
	Sigma             float64            `json:"sigma"`
	Zeta              float64            `json:"zeta"`
	Radius            float64            `json:"radius"`
	Positive          []float64          `json:"positive"`
	Negative          []float64          `json:"negative"`
	HeldPositive      []float64          `json:"held_positive"`
	HeldNegative      []float64          `json:"held_negative"`
	ReferencePositive []float64          `json:"reference_positive"`
	ReferenceNegative []float64          `json:"reference_negative"`
	By                map[string]float64 `json:"by"`
	Moved             float64            `json:"moved"`
	Train             float64            `json:"train"`
	Test              float64            `json:"test"`
	Norm              float64            `json:"norm"`
	Gap               float64            `json:"gap"`
	ErrorTrain        float64            `json:"error_train"`
	ErrorTest         float64            `json:"error_test"`
	ErrorEuclidean    float64            `json:"error_euclidean"`
}

func readGolden(t *testing.T) (golden, still, RRM) {
	t.Helper()
	var g golden
	testutil.ReadJSON(t, "testdata/golden.json", &g)
	s := still{
		problem(t, g.Positive, g.Negative, g.D), problem(t, g.HeldPositive, g.HeldNegative, g.D),
		problem(t, g.ReferencePositive, g.ReferenceNegative, g.D), g.Radius,
	}
	return g, s, RRM{Loss: lossOf(t, mahalanobis.Logistic, g.Zeta), Sigma: record.Scale{Factor: g.Sigma}}
}

// grid is the largest |phi(w v + zeta) - phi(w' v + zeta)| over v in [-4, 4], the range
// of (x-y)^2 - (x-z)^2 in one dimension and the ball of radius 1.
func grid(l mahalanobis.Loss, w, other float64) float64 {
	most := 0.0
	for i := range 20001 {
		v := -4 + 8*float64(i)/20000
		most = max(most, difference(l, w*v, other*v))
	}
	return most
}
