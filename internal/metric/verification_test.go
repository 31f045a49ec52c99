package metric

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"tercet/internal/par"
	"tercet/internal/rng"
)

// blobsOf returns n rows of d numbers around k centers, and their labels, of which
// some are wrong.
func blobsOf(r *rng.Stream, n, d, k int, spread float64) ([]float32, []int32) {
	center := make([]float64, k*d)
	for i := range center {
		center[i] = r.NormFloat64()
	}
	x, y := make([]float32, n*d), make([]int32, n)
	for i := range n {
		c := r.IntN(k)
		for j := range d {
			x[i*d+j] = float32(center[c*d+j] + spread*r.NormFloat64())
		}
		if y[i] = int32(3*c - 5); r.IntN(10) == 0 {
			y[i] = int32(3*r.IntN(k) - 5)
		}
	}
	return x, y
}

// plainPair is a pair's distance by plain loops.
type plainPair struct {
	d    float64
	same bool
}

func plainPairs(x []float32, d int, y []int32) []plainPair {
	var out []plainPair
	for i := range y {
		for j := range i {
			s := 0.0
			for k := range d {
				v := float64(x[i*d+k]) - float64(x[j*d+k])
				s += v * v
			}
			out = append(out, plainPair{math.Sqrt(s), y[i] == y[j]})
		}
	}
	return out
}

// plainVerify scores pairs from the definitions: one comparison at a time.
func plainVerify(pairs []plainPair, t float64) map[string]float64 {
	var tp, fp, tn, fn float64
	for _, p := range pairs {
		switch {
		case p.same && p.d <= t:
			tp++
		case p.same:
			fn++
		case p.d <= t:
			fp++
		default:
			tn++
		}
	}
	out := map[string]float64{
		"accuracy":          (tp + tn) / (tp + tn + fp + fn),
		"balanced_accuracy": (tp/(tp+fn) + tn/(tn+fp)) / 2,
		"recall":            tp / (tp + fn),
		"precision":         0, "f1": 0,
	}
	if tp+fp > 0 {
		out["precision"] = tp / (tp + fp)
	}
	if tp > 0 {
		out["f1"] = 2 / (1/out["precision"] + 1/out["recall"])
	}
	return out
}

// plainCurve returns auc and eer from the definitions.
func plainCurve(pairs []plainPair) (auc, eer float64) {
	var same, different float64
	for _, p := range pairs {
		if p.same {
			same++
		} else {
			different++
		}
	}
	wins := 0.0
	for _, p := range pairs {
		for _, q := range pairs {
			if p.same && !q.same {
				if p.d < q.d {
					wins++
				} else if p.d == q.d {
					wins += 0.5
				}
			}
		}
	}
	auc = wins / (same * different)
	// The errors at every distance, and where their lines cross.
	all := slices.Clone(pairs)
	slices.SortFunc(all, func(a, b plainPair) int { return cmpFloat(a.d, b.d) })
	at := func(t float64) (missed, falsely float64) {
		for _, p := range pairs {
			if p.same && p.d > t {
				missed++
			}
			if !p.same && p.d <= t {
				falsely++
			}
		}
		return missed / same, falsely / different
	}
	m0, f0 := 1.0, 0.0
	for _, p := range all {
		m, f := at(p.d)
		if f >= m {
			// (1-u)(m0, f0) + u(m, f) with both errors equal.
			u := (m0 - f0) / ((m0 - f0) - (m - f))
			return auc, (1-u)*m0 + u*m
		}
		m0, f0 = m, f
	}
	return auc, math.NaN()
}

func cmpFloat(a, b float64) int {
	if a < b {
		return -1
	} else if a > b {
		return 1
	}
	return 0
}

func mustVerify(t *testing.T, x []float32, d int, y []int32, threshold float64, exact int64) *Verification {
	t.Helper()
	v, err := verify(context.Background(), x, len(y), d, y, VerificationOptions{Threshold: &threshold}, exact)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// Both ways, of sorted distances and of bins, against plain loops; the bins' auc
// within its slack.
func TestVerifyAgainstPlainLoops(t *testing.T) {
	r := rng.New(1, "verification")
	for _, c := range []struct {
		n, d, k       int
		spread, scale float64
	}{{3, 3, 1, 1, 1}, {40, 1, 3, 0.3, 1}, {60, 7, 4, 1, 1}, {50, 33, 5, 2, 1e-20}, {40, 16, 3, 0.5, 1e18}, {50, 4, 2, 1e-4, 1}} {
		x, y := blobsOf(r, c.n, c.d, c.k, c.spread)
		y[0], y[1], y[2] = 1, 1, 2
		for i := range x {
			x[i] *= float32(c.scale)
		}
		if c.n > 20 {
			copy(x[10*c.d:11*c.d], x[12*c.d:]) // duplicates
			copy(x[13*c.d:14*c.d], x[12*c.d:])
		}
		pairs := plainPairs(x, c.d, y)
		middle := pairs[len(pairs)/2].d * 1.000001 // sums in other orders differ in the last bit
		auc, eer := plainCurve(pairs)
		for _, threshold := range []float64{middle, middle * 0.3, middle * 3, middle * 1e-9, middle * 1e9} {
			want := plainVerify(pairs, threshold)
			want["auc"], want["eer"] = auc, eer
			for name, exact := range map[string]int64{"sorted": exactPairs, "binned": 0} {
				v := mustVerify(t, x, c.d, y, threshold, exact)
				what := fmt.Sprintf("%+v, threshold %v, %s", c, threshold, name)
				if len(v.Scores) != len(want) {
					t.Fatalf("%s: %d scores", what, len(v.Scores))
				}
				slack := 1e-12
				if name == "binned" {
					slack += v.AUCSlack
					if v.AUCSlack > 1e-3 {
						t.Errorf("%s: slack %v", what, v.AUCSlack)
					}
				}
				for _, s := range v.Scores {
					tolerance := 1e-12
					switch s.Key {
					case "auc":
						tolerance = slack
					case "eer": // moves by at most a bin's share
						if name == "binned" {
							tolerance = 2e-3
						}
					}
					if w, ok := want[s.Key]; !ok || math.Abs(s.Value.Value-w) > tolerance {
						t.Errorf("%s: %s %v, want %v", what, s.Key, s.Value.Value, w)
					}
				}
				same := 0
				for _, p := range pairs {
					if p.same {
						same++
					}
				}
				if v.Same != int64(same) || v.Different != int64(len(pairs)-same) {
					t.Errorf("%s: %+v", what, v)
				}
			}
		}
	}
}

// Golden: scikit-learn 1.2.1, accuracy_score, balanced_accuracy_score,
// precision_score, recall_score, f1_score of d <= t, roc_auc_score of -d, and the
// crossing of roc_curve(drop_intermediate=False) with its antidiagonal.
func TestVerifyAgainstScikitLearn(t *testing.T) {
	const n, d = 60, 5
	x, y := make([]float32, n*d), make([]int32, n)
	for i := range n {
		y[i] = int32(i * 7 / 3 % 4)
		for k := range d {
			x[i*d+k] = float32((i*i*13+7*i*k+3*k)%29)/16 + float32(y[i])*0.5*float32(k%2)
		}
	}
	copy(x[5*d:6*d], x[4*d:])
	copy(x[7*d:8*d], x[6*d:])
	for threshold, want := range map[float64][5]float64{
		1:    {0.7367231638418079, 0.505925925925926, 0.27450980392156865, 0.06666666666666667, 0.10727969348659004},
		1.5:  {0.6740112994350282, 0.5845502645502646, 0.3445544554455445, 0.4142857142857143, 0.37621621621621626},
		2.25: {0.43333333333333335, 0.5998148148148148, 0.2845528455284553, 0.9166666666666666, 0.43429216018048505},
	} {
		for _, exact := range []int64{exactPairs, 0} {
			v := mustVerify(t, x, d, y, threshold, exact)
			for i, key := range []string{"accuracy", "balanced_accuracy", "precision", "recall", "f1"} {
				if got, _ := v.Scores.Get(key); math.Abs(got.Value-want[i]) > 1e-12 || got.Definition != key+"(pairs,within)" {
					t.Errorf("%v %s: %+v, want %v", threshold, key, got, want[i])
				}
			}
			auc, _ := v.Scores.Get("auc")
			eer, _ := v.Scores.Get("eer")
			if math.Abs(auc.Value-0.6597416225749559) > 1e-12+v.AUCSlack || math.Abs(eer.Value-0.3748148148148224) > 1e-9 {
				t.Errorf("auc %v, eer %v", auc, eer)
			}
		}
	}
}

// A threshold that distances meet exactly: d <= t holds, whichever way it was
// found, and no longer one step below.
func TestVerifyAtTheThreshold(t *testing.T) {
	r := rng.New(2, "verification")
	for range 200 {
		tau := math.Sqrt(r.Float64() * math.Pow(10, 20*r.Float64()-10))
		s := squareLimit(tau)
		if math.Sqrt(s) > tau || math.Sqrt(math.Nextafter(s, math.Inf(1))) <= tau {
			t.Fatalf("limit %v of %v", s, tau)
		}
	}
	for tau, want := range map[float64]float64{1e200: math.MaxFloat64, 5e-324: 0, 2: 4} {
		if s := squareLimit(tau); s < want {
			t.Errorf("limit of %v is %v", tau, s)
		}
	}
	const n = 400 // a line of whole numbers: many pairs at each distance
	x, y := make([]float32, n), make([]int32, n)
	for i := range n {
		x[i], y[i] = float32(i), int32(i%3)
	}
	for _, exact := range []int64{exactPairs, 0} {
		for _, far := range []float64{1, 17, 300} {
			at := mustVerify(t, x, 1, y, far, exact).Accepted
			below := mustVerify(t, x, 1, y, math.Nextafter(far, 0), exact).Accepted
			if at-below != n-int64(far) {
				t.Errorf("%v: %d pairs at the threshold, want %d", far, at-below, n-int64(far))
			}
		}
	}
}

// More pairs than are sorted: the bins against the sorted distances.
func TestVerifyManyPairs(t *testing.T) {
	const n, d = 1600, 24
	r := rng.New(3, "verification")
	for _, spread := range []float64{0.05, 1} {
		x, y := blobsOf(r, n, d, 10, spread)
		for i := range x {
			x[i] += 30 // an offset
		}
		threshold := 4 * spread
		binned := mustVerify(t, x, d, y, threshold, exactPairs)
		sorted := mustVerify(t, x, d, y, threshold, math.MaxInt64)
		if binned.Accepted != sorted.Accepted || binned.Wrong != sorted.Wrong || binned.Same != sorted.Same {
			t.Errorf("%+v, sorted %+v", binned, sorted)
		}
		if binned.AUCSlack == 0 || binned.AUCSlack > 2e-6 {
			t.Errorf("slack %v", binned.AUCSlack)
		}
		for i, s := range binned.Scores {
			tolerance := 0.0
			if s.Key == "auc" || s.Key == "eer" {
				tolerance = 3e-6
			}
			if w := sorted.Scores[i].Value.Value; math.Abs(s.Value.Value-w) > tolerance {
				t.Errorf("spread %v: %s %v, sorted %v", spread, s.Key, s.Value.Value, w)
			}
		}
		if math.Abs(binned.EERThreshold-sorted.EERThreshold) > 1e-3*sorted.EERThreshold {
			t.Errorf("eer at %v, sorted %v", binned.EERThreshold, sorted.EERThreshold)
		}
	}
}

func TestVerifyWithoutThreshold(t *testing.T) {
	x, y := blobsOf(rng.New(4, "verification"), 30, 3, 3, 1)
	v, err := Verify(context.Background(), x, 30, 3, y, VerificationOptions{})
	if err != nil || len(v.Scores) != 2 || v.Scores[0].Key != "auc" || v.Scores[1].Key != "eer" || v.Accepted != 0 {
		t.Errorf("%+v, %v", v, err)
	}
}

// Points that all coincide tell nothing: auc and eer 1/2, and all pairs are called
// the same.
func TestVerifyCollapsed(t *testing.T) {
	x, y := make([]float32, 50*4), make([]int32, 50)
	for i := range x {
		x[i] = float32(i%4) + 0.1
	}
	for i := range y {
		y[i] = int32(i % 5)
	}
	for _, exact := range []int64{exactPairs, 0} {
		v := mustVerify(t, x, 4, y, 0.5, exact)
		for key, want := range map[string]float64{"auc": 0.5, "eer": 0.5, "recall": 1, "balanced_accuracy": 0.5, "precision": float64(v.Same) / (50 * 49 / 2)} {
			if got, _ := v.Scores.Get(key); math.Abs(got.Value-want) > 1e-15 {
				t.Errorf("%s %v, want %v", key, got.Value, want)
			}
		}
		if v.EERThreshold != 0 {
			t.Errorf("eer at %v", v.EERThreshold)
		}
	}
}

// Perfect and reversed distances.
func TestVerifyExtremes(t *testing.T) {
	x := []float32{0, 1, 100, 101}
	for _, c := range []struct {
		y        []int32
		auc, eer float64
	}{{[]int32{1, 1, 2, 2}, 1, 0}, {[]int32{1, 2, 1, 2}, 0.25, 0.75}} {
		v := mustVerify(t, x, 1, c.y, 2, exactPairs)
		auc, _ := v.Scores.Get("auc")
		eer, _ := v.Scores.Get("eer")
		if auc.Value != c.auc || eer.Value != c.eer {
			t.Errorf("%v: auc %v, eer %v, want %v and %v", c.y, auc.Value, eer.Value, c.auc, c.eer)
		}
	}
}

func TestVerifySameBitsForAnyThreads(t *testing.T) {
	defer par.SetThreads(0)
	x, y := blobsOf(rng.New(5, "verification"), 1600, 40, 7, 1)
	var want string
	for _, threads := range []int{1, 3} {
		par.SetThreads(threads)
		got := fmt.Sprintf("%#v", *mustVerify(t, x, 40, y, 5, exactPairs))
		if want == "" {
			want = got
		}
		if got != want {
			t.Errorf("%d threads give other bits", threads)
		}
	}
}

func TestVerifyErrors(t *testing.T) {
	x, y := []float32{0, 1, 2, 3}, []int32{0, 0, 1, 1}
	nan := []float32{0, 1, float32(math.NaN()), 3}
	one := 1.0
	for _, c := range []struct {
		x         []float32
		y         []int32
		threshold float64
		want      string
	}{
		{x, y, 0, "threshold is 0"},
		{x, y, -1, "threshold is -1"},
		{x, y, math.NaN(), "threshold is NaN"},
		{x, y, math.Inf(1), "threshold is +Inf"},
		{nan, y, 1, "row 2 column 0 is NaN"},
		{x, y[:3], 1, "4 embeddings but 3 labels"},
		{x, []int32{0, 1, 2, 3}, 1, "no two of the 4 embeddings have the same label"},
		{x, []int32{7, 7, 7, 7}, 1, "all 4 embeddings have the same label"},
		{x[:1], y[:1], 1, "no two of the 1 embeddings"},
	} {
		if _, err := Verify(context.Background(), c.x, len(c.x), 1, c.y, VerificationOptions{Threshold: &c.threshold}); !errors.Is(err, ErrInput) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v", c, err)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for _, exact := range []int64{exactPairs, 0} {
		if _, err := verify(ctx, x, 4, 1, y, VerificationOptions{Threshold: &one}, exact); !errors.Is(err, context.Canceled) {
			t.Errorf("canceled: %v", err)
		}
	}
}

func BenchmarkVerify(b *testing.B) {
	for _, d := range []int{64, 512} {
		b.Run(fmt.Sprintf("10000x%d", d), func(b *testing.B) {
			x, y := blobsOf(rng.New(6, "verification"), 10000, d, 10, 1)
			threshold := math.Sqrt(3 * float64(d))
			for b.Loop() {
				if _, err := Verify(context.Background(), x, 10000, d, y, VerificationOptions{Threshold: &threshold}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
