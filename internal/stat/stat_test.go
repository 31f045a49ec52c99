package stat

import (
	"math"
	"slices"
	"testing"

	"tercet/internal/testutil"
)

// The values of testdata/scripts/stat_golden.py (scipy 1.10.1, NumPy 1.24.2).

// stats.t.ppf(0.975, n - 1)
func TestT95(t *testing.T) {
	for n, want := range map[int]float64{2: 12.706204736432095, 3: 4.302652729911275, 4: 3.182446305284263, 10: 2.2621571627409915, 1000: 1.9623414611334487} {
		testutil.NearRelative(t, "T95", T95(n), want, 1e-9)
	}
}

// np.mean, stats.sem, stats.t.interval, np.median
func TestMeans(t *testing.T) {
	x := []float64{0.31, -1.2, 4.5, 0.02, 0.7, 0.7}
	m, low, high := MeanInterval(x)
	testutil.NearRelative(t, "mean", m, 0.8383333333333334, 1e-15)
	testutil.NearRelative(t, "low end", low, -1.183005209618659, 1e-9)
	testutil.NearRelative(t, "high end", high, 2.8596718762853257, 1e-9)
	_, se := MeanError(x)
	testutil.NearRelative(t, "standard error", se, 0.7863350289652483, 1e-14)
	testutil.NearRelative(t, "median of six", Median(x), 0.505, 1e-15)
	testutil.NearRelative(t, "median of five", Median(x[:5]), 0.31, 0)
	if x[1] != -1.2 {
		t.Error("Median sorts its argument")
	}
	if m, low, high := MeanInterval([]float64{3}); m != 3 || !math.IsNaN(low) || !math.IsNaN(high) {
		t.Errorf("one value: %v [%v, %v]", m, low, high)
	}
	if _, low, high := MeanInterval([]float64{7, 7, 7}); low != 7 || high != 7 {
		t.Errorf("equal values: [%v, %v]", low, high)
	}
}

// np.percentile, and with method="inverted_cdf"
func TestQuantiles(t *testing.T) {
	v := []float64{1, 2, 4, 8, 16, 32, 64}
	for p, want := range map[float64]float64{0: 1, 0.025: 1.15, 0.5: 8, 0.975: 59.2, 1: 64} {
		testutil.NearRelative(t, "linear", Quantile(v, p), want, 1e-15)
	}
	for percent, want := range map[int]float64{0: 1, 1: 1, 14: 1, 15: 2, 50: 8, 90: 64, 99: 64, 100: 64} {
		testutil.NearRelative(t, "nearest rank", NearestRank(v, percent), want, 0)
	}
	backwards := slices.Clone(v)
	slices.Reverse(backwards)
	if ci := Interval95(backwards); ci != [2]float64{1.15, Quantile(v, 0.975)} {
		t.Errorf("interval %v", ci)
	}
	if Quantile([]float64{7}, 0.3) != 7 || NearestRank([]float64{7}, 1) != 7 {
		t.Error("one value")
	}
}

// stats.binomtest(k, n).proportion_ci(0.95, method="wilson" and "exact")
func TestProportions(t *testing.T) {
	for _, c := range []struct {
		k, n          int
		wilson, exact [2]float64
	}{
		{0, 10, [2]float64{0, 0.27753279986288926}, [2]float64{0, 0.30849710781876294}},
		{8, 10, [2]float64{0.4901624715366418, 0.9433178485456248}, [2]float64{0.4439045376923585, 0.9747892736731665}},
		{10, 10, [2]float64{0.7224672001371109, 1}, [2]float64{0.6915028921812371, 1}},
		{9812, 10000, [2]float64{0.9783473383077018, 0.983683101660359}, [2]float64{0.9783434967459602, 0.9837711293211624}},
		{1, 3, [2]float64{0.06149194472039626, 0.7923403991979523}, [2]float64{0.008403758659612647, 0.9057006759492866}},
	} {
		for i := range 2 {
			testutil.NearRelative(t, "Wilson", Wilson(c.k, c.n)[i], c.wilson[i], 1e-12)
			testutil.NearRelative(t, "Clopper-Pearson", ClopperPearson(c.k, c.n)[i], c.exact[i], 1e-9)
		}
	}
	for n := 1; n < 200; n++ {
		if Wilson(0, n)[0] != 0 || Wilson(n, n)[1] != 1 {
			t.Errorf("the ends of 0 and %d of %d: %v, %v", n, n, Wilson(0, n), Wilson(n, n))
		}
	}
	if Wilson(0, 0) != [2]float64{0, 1} {
		t.Error("nothing counted leaves [0, 1]")
	}
}

// stats.linregress([0.5, 1, 4, 9], [2, -1, 3.5, 7])
func TestLine(t *testing.T) {
	slope, intercept := Line([]float64{0.5, 1, 4, 9}, []float64{2, -1, 3.5, 7})
	testutil.NearRelative(t, "slope", slope, 0.7729138166894665, 1e-14)
	testutil.NearRelative(t, "intercept", intercept, 0.07318741450068389, 1e-13)
}

// By hand: of the ten pairs of five, concordant less discordant; the tie of two values
// leaves nine pairs of the first list. Spearman without ties is 1 - 6 sum d^2 / (n (n^2-1)).
func TestRankCorrelations(t *testing.T) {
	t.Parallel()
	near := func(name string, got float64, ok bool, want float64) {
		t.Helper()
		if !ok || math.Abs(got-want) > 1e-12 {
			t.Errorf("%s: %v %v, want %v", name, got, ok, want)
		}
	}
	x := []float64{1, 2, 3, 4, 5}
	tau, ok := Kendall(x, []float64{1, 2, 3, 5, 4})
	near("one swap", tau, ok, 0.8)
	tau, ok = Kendall(x, []float64{5, 4, 3, 2, 1})
	near("reversed", tau, ok, -1)
	tau, ok = Kendall([]float64{1, 1, 3, 4, 5}, x)
	near("a tie", tau, ok, 9/math.Sqrt(9*10))
	rho, ok := Spearman(x, []float64{1, 2, 3, 5, 4})
	near("one swap, ranks", rho, ok, 1-6*2.0/(5*24))
	rho, ok = Spearman([]float64{1, 1, 2}, []float64{1, 2, 3}) // ranks 0.5, 0.5, 2 and 0, 1, 2
	near("a tie, ranks", rho, ok, 1.5/math.Sqrt(1.5*2))
	for _, y := range [][]float64{{2, 2, 2, 2, 2}, {1, 2, 3, 4, math.NaN()}} {
		if _, ok := Kendall(x, y); ok {
			t.Errorf("Kendall of %v", y)
		}
		if _, ok := Spearman(x, y); ok {
			t.Errorf("Spearman of %v", y)
		}
	}
}
