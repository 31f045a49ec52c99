package generalize

import (
	"errors"
	"math"
	"strings"
	"testing"

	"tercet/internal/config"
	"tercet/internal/data"
	"tercet/internal/engine/array"
	"tercet/internal/engine/loss"
	"tercet/internal/par"
	"tercet/internal/record"
	"tercet/internal/rng"
	"tercet/internal/run/tinytest"
	"tercet/internal/wire"
)

// Triplets are drawn with the probabilities that the text gives, by enumeration.
func TestDrawTriplets(t *testing.T) {
	labels := []int32{2, 0, 2, 0, 0, 1, 4} // classes of 3, 1, 2, 0 and 1 items, mixed
	const n = 200_000
	ts, err := drawTriplets(labels, n, "test", rng.New(3, "draw"))
	if err != nil {
		t.Fatal(err)
	}
	want := map[loss.Triplet]float64{}
	for a, y := range labels {
		for p, yp := range labels {
			for q, yq := range labels {
				if p == a || yp != y || yq == y {
					continue
				}
				others, far := 0.0, 0.0
				for i, l := range labels {
					if l == y && i != a {
						others++
					}
					if l != y {
						far++
					}
				}
				want[loss.Triplet{A: int32(a), P: int32(p), N: int32(q)}] = 1.0 / 5 / others / far
			}
		}
	}
	got := map[loss.Triplet]float64{}
	for _, x := range ts {
		got[x] += 1.0 / n
	}
	if len(got) != len(want) {
		t.Errorf("%d kinds of triplets, want %d", len(got), len(want))
	}
	for x, w := range want {
		if d := math.Abs(got[x] - w); d > 5*math.Sqrt(w/n) {
			t.Errorf("%v is drawn with frequency %.5f, want %.5f", x, got[x], w)
		}
	}
	for name, bad := range map[string][]int32{"one class": {1, 1, 1}, "all alone": {0, 1, 2}, "nothing": {}} {
		if _, err := drawTriplets(bad, 1, "training", rng.New(0, "draw")); !errors.Is(err, data.ErrUnfit) || !strings.Contains(err.Error(), "training images") {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

// lossConfig is a config with the loss that set gives.
func lossConfig(t *testing.T, set string) *config.Config {
	t.Helper()
	cfg, err := config.LoadBytes([]byte("data: glyphs"), "loss.yaml", []string{set})
	if err != nil {
		t.Fatal(err)
	}
	return cfg
}

// The losses of triplets against plain loops written from the formulas, whatever the
// run divides a batch's sum by.
func TestTripletLossesByPlainLoops(t *testing.T) {
	const n, d = 12, 5
	r := rng.New(1, "z")
	z := array.New(n, d)
	for i := range z.Data {
		z.Data[i] = float32(r.NormFloat64() / 2)
	}
	squared := func(i, j int32, eps float64) float64 {
		sum := 0.0
		for k := range d {
			x := float64(z.Row(int(i))[k]) - float64(z.Row(int(j))[k]) + eps
			sum += x * x
		}
		return sum
	}
	euclid := func(i, j int32) float64 { return math.Sqrt(squared(i, j, 1e-6)) }
	cos := func(i, j int32) float64 {
		ij, ii, jj := 0.0, 0.0, 0.0
		for k := range d {
			a, b := float64(z.Row(int(i))[k]), float64(z.Row(int(j))[k])
			ij, ii, jj = ij+a*b, ii+a*a, jj+b*b
		}
		return ij / math.Sqrt(ii*jj)
	}
	plus := func(x float64) float64 { return max(x, 0) }
	labels := []int32{0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2}
	ts, err := drawTriplets(labels, 700, "test", rng.New(2, "draw"))
	if err != nil {
		t.Fatal(err)
	}
	sets, err := wire.OpenData(t.Context(), tinytest.Config(t))
	if err != nil {
		t.Fatal(err)
	}
	far := func(x loss.Triplet) bool { return squared(x.A, x.P, 0) >= squared(x.A, x.N, 0) }
	for _, tc := range []struct {
		name  string
		set   string
		of    string
		value func(x loss.Triplet) float64
		wrong func(x loss.Triplet) bool
	}{
		{"hinge", "loss={name: triplet, margin: 0.3, reducer: mean-nonzero}", "triplets", func(x loss.Triplet) float64 { return plus(0.3 + euclid(x.A, x.P) - euclid(x.A, x.N)) }, far},
		{"soft", "loss={name: triplet, margin: 0.3, form: soft, distance: squared}", "triplets", func(x loss.Triplet) float64 {
			return math.Log(1 + math.Exp(0.3+squared(x.A, x.P, 0)-squared(x.A, x.N, 0)))
		}, far},
		{"capped", "loss={name: triplet-capped, reducer: sum}", "triplets", func(x loss.Triplet) float64 {
			return plus(1+squared(x.A, x.P, 0)-squared(x.A, x.N, 0)) + plus(squared(x.A, x.P, 0)-0.5)
		}, far},
		{"threshold", "loss={name: triplet-threshold}", "triplets", func(x loss.Triplet) float64 { return plus(squared(x.A, x.P, 0)-0.5) + plus(1-squared(x.A, x.N, 0)) }, far},
		{"threshold of pairs", "loss={name: triplet-threshold, pairing: pairs}", "pairs", func(x loss.Triplet) float64 { return plus(squared(x.A, x.P, 0)-0.5) + plus(1-squared(x.A, x.N, 0)) }, far},
		{"contrastive", "loss={name: contrastive, margin: 1.5, eps: 0}", "pairs", func(x loss.Triplet) float64 {
			g := plus(1.5 - math.Sqrt(squared(x.A, x.N, 0)))
			return squared(x.A, x.P, 0) + g*g
		}, far},
		{"cosine", "loss={name: cosine, margin: 0.2, eps: 0}", "pairs", func(x loss.Triplet) float64 { return 1 - cos(x.A, x.P) + plus(cos(x.A, x.N)-0.2) },
			func(x loss.Triplet) bool { return cos(x.A, x.P) <= cos(x.A, x.N) }},
		{"robust", "loss={name: triplet-robust, rho: 0.1, margin: 0.3, reducer: mean-nonzero}", "triplets", func(x loss.Triplet) float64 {
			D := squared(x.A, x.P, 0) - squared(x.A, x.N, 0)
			return 0.9*plus(0.3+D) + 0.1*plus(0.3-D)
		}, far},
	} {
		cfg := lossConfig(t, tc.set)
		w, err := wire.RobustWeights(cfg, sets)
		if err != nil {
			t.Fatal(err)
		}
		l, err := newTripletLoss(cfg, w)
		if err != nil {
			t.Fatal(err)
		}
		if l.Of != tc.of {
			t.Errorf("%s: of %s, want %s", tc.name, l.Of, tc.of)
		}
		for _, threads := range []int{1, 3} {
			par.SetThreads(threads)
			got, err := l.eval(z, ts)
			par.SetThreads(0)
			if err != nil {
				t.Fatal(err)
			}
			for k, x := range ts {
				if want := tc.value(x); math.Abs(got.loss[k]-want) > 1e-6 {
					t.Fatalf("%s: loss of %v is %v, want %v", tc.name, x, got.loss[k], want)
				}
				if got.wrong[k] != tc.wrong(x) {
					t.Fatalf("%s: wrong(%v) is %v", tc.name, x, got.wrong[k])
				}
			}
		}
	}
}

// No loss of embeddings of length 1 exceeds sup, and opposite ones reach it.
func TestLargestLossOfUnitEmbeddings(t *testing.T) {
	z := tinytest.Must(array.Of([]float32{1, 0, -1, 0, 1, 0, 0, 1}, 4, 2))
	for set, reach := range map[string]bool{
		"loss={name: triplet, margin: 0.3, eps: 0}":        true,
		"loss={name: triplet, margin: 0.3, form: soft}":    true,
		"loss={name: triplet, distance: squared}":          true,
		"loss={name: triplet-capped}":                      true,
		"loss={name: triplet-threshold}":                   true,
		"loss={name: contrastive, eps: 0}":                 true,
		"loss={name: cosine, eps: 0}":                      true,
		"loss={name: triplet-robust, rho: 0.1}":            false,
		"loss={name: cosine, eps: 0, similarity: paper}":   false,
		"loss={name: triplet, margin: 0.3, reducer: mean}": true,
	} {
		cfg := lossConfig(t, set)
		cfg.Model.Normalize = true
		l, err := newTripletLoss(cfg, &record.TripletProbabilities{W1: 0.9, W2: 0.1})
		if err != nil {
			t.Fatal(err)
		}
		v, err := l.eval(z, []loss.Triplet{{A: 0, P: 1, N: 2}, {A: 0, P: 3, N: 1}})
		if err != nil {
			t.Fatal(err)
		}
		sup := l.sup(cfg)
		if !reach {
			if sup != nil {
				t.Errorf("%s: %v", set, *sup)
			}
			continue
		}
		if math.Abs(v.loss[0]-*sup) > 1e-5 || v.loss[1] > *sup {
			t.Errorf("%s: losses %v, sup %v", set, v.loss, *sup)
		}
		cfg.Model.Normalize = false
		if s := l.sup(cfg); s != nil && l.Name != "cosine" {
			t.Errorf("%s: embeddings of any length have a largest loss of %v", set, *s)
		}
	}
}
