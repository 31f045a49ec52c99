package principal

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"tercet/internal/cluster"
	"tercet/internal/cluster/clustertest"
	"tercet/internal/par"
	"tercet/internal/testutil"
)

// wavy is data that any language can repeat exactly.
func wavy(n, d int) []float32 {
	x := make([]float32, n*d)
	for i := range n {
		for j := range d {
			x[i*d+j] = float32((i*7919+j*j*104729+i*j*31)%1000) / 1000 * float32(1+j%5)
		}
	}
	return x
}

// checkPCA verifies a result by plain float64 loops: orthonormal components,
// eigenvectors of the covariance, projections, ratios, signs.
func checkPCA(t *testing.T, x []float32, n, d int, r *Result) {
	t.Helper()
	mean, cov := make([]float64, d), make([]float64, d*d)
	for i := range n {
		for j := range d {
			mean[j] += float64(x[i*d+j]) / float64(n)
		}
	}
	for i := range n {
		for a := range d {
			for b := range d {
				cov[a*d+b] += (float64(x[i*d+a]) - mean[a]) * (float64(x[i*d+b]) - mean[b]) / float64(n-1)
			}
		}
	}
	var total float64
	for j := range d {
		total += cov[j*d+j]
		if !testutil.WithinRelative(r.Mean[j], mean[j], 1e-9) {
			t.Fatalf("mean %d: %v, want %v", j, r.Mean[j], mean[j])
		}
	}
	for c := range r.K {
		v := r.Components[c*d : (c+1)*d]
		for e := range r.K {
			var dot float64
			for j := range v {
				dot += v[j] * r.Components[e*d+j]
			}
			if want := map[bool]float64{true: 1}[c == e]; math.Abs(dot-want) > 1e-9 {
				t.Fatalf("components %d and %d: product %v", c, e, dot)
			}
		}
		var largest float64
		for a := range d {
			var s float64
			for b := range d {
				s += cov[a*d+b] * v[b]
			}
			if math.Abs(s-r.Variance[c]*v[a]) > 2e-6*r.Variance[0] {
				t.Fatalf("component %d is no eigenvector at %d: %v, want %v", c, a, s, r.Variance[c]*v[a])
			}
			if math.Abs(v[a]) > math.Abs(largest) {
				largest = v[a]
			}
		}
		if largest < 0 {
			t.Errorf("component %d: its largest entry is %v", c, largest)
		}
		if c > 0 && r.Variance[c] > r.Variance[c-1] {
			t.Errorf("variances %v not falling", r.Variance)
		}
		if math.Abs(r.Ratio[c]-r.Variance[c]/total) > 1e-6 {
			t.Errorf("ratio %d: %v, want %v", c, r.Ratio[c], r.Variance[c]/total)
		}
		for i := range n {
			var s float64
			for j := range d {
				s += (float64(x[i*d+j]) - mean[j]) * v[j]
			}
			if got := float64(r.Projected[i*r.K+c]); math.Abs(got-s) > 1e-5*math.Sqrt(total) {
				t.Fatalf("row %d component %d: %v, want %v", i, c, got, s)
			}
		}
	}
}

func TestPCAAgainstLoops(t *testing.T) {
	for _, c := range []struct{ n, d, k int }{{50, 6, 6}, {300, 20, 3}, {5, 30, 10}, {40, 1, 1}, {2, 3, 2}} {
		x := wavy(c.n, c.d)
		for i := range x {
			x[i] += 40
		}
		r, err := Components(t.Context(), x, c.n, c.d, c.k)
		if err != nil {
			t.Fatal(err)
		}
		checkPCA(t, x, c.n, c.d, r)
	}
}

// In many dimensions: the iterative solver against all eigenvalues.
func TestPCAKrylov(t *testing.T) {
	for _, c := range []struct {
		n, d, k int
		decay   float64
	}{{400, 300, 2, .9}, {200, 320, 5, 1}, {900, 300, 3, .999}, {30, 400, 4, .5}} {
		r := rand.New(rand.NewPCG(uint64(c.d), 5))
		x := make([]float32, c.n*c.d)
		for i := range x {
			x[i] = float32(r.NormFloat64() * math.Pow(c.decay, float64(i%c.d)))
		}
		cov, err := covariance(t.Context(), cluster.Center(x, c.n, c.d))
		if err != nil {
			t.Fatal(err)
		}
		values, _, ok := krylov(t.Context(), cov, c.k)
		if !ok {
			t.Errorf("%+v: no convergence", c)
			continue
		}
		var e mat.EigenSym
		if !e.Factorize(mat.NewSymDense(c.d, cov.RawMatrix().Data), false) {
			t.Fatal("no eigenvalues")
		}
		all := e.Values(nil)
		for i, v := range values {
			if want := all[c.d-1-i]; !testutil.WithinRelative(v, want, 1e-9) {
				t.Errorf("%+v: eigenvalue %d is %v, want %v", c, i, v, want)
			}
		}
		got, err := Components(t.Context(), x, c.n, c.d, c.k)
		if err != nil {
			t.Fatal(err)
		}
		checkPCA(t, x, c.n, c.d, got)
	}
}

func TestPCAEdges(t *testing.T) {
	line := []float32{0, 0, 1, 2, 2, 4, 3, 6} // one direction only
	r, err := Components(t.Context(), line, 4, 2, 2)
	if err != nil {
		t.Fatal(err)
	}
	if !testutil.WithinRelative(r.Ratio[0], 1, 1e-7) || r.Variance[1] > 1e-6*r.Variance[0] || !testutil.WithinRelative(r.Components[1], 2/math.Sqrt(5), 1e-6) {
		t.Errorf("%+v", r)
	}
	wide := make([]float32, 3*500) // fewer rows than the solver's block
	for i := range wide {
		wide[i] = float32(i * i % 17)
	}
	if r, err = Components(t.Context(), wide, 3, 500, 2); err != nil {
		t.Fatal(err)
	}
	checkPCA(t, wide, 3, 500, r)
	for name, c := range map[string]struct {
		x       []float32
		n, d, k int
		want    string
	}{
		"constant": {[]float32{5, 6, 5, 6, 5, 6}, 3, 2, 1, "all 3 rows are the same"},
		"one row":  {[]float32{5, 6}, 1, 2, 1, "all 1 rows are the same"},
		"nan":      {[]float32{5, float32(math.NaN())}, 2, 1, 1, "row 1 column 0 is NaN"},
		"k":        {line, 4, 2, 3, "3 components of 2 dimensions"},
		"k 0":      {line, 4, 2, 0, "0 components"},
		"size":     {line, 3, 2, 1, "need 6 numbers, got 8"},
	} {
		if _, err := Components(t.Context(), c.x, c.n, c.d, c.k); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

func TestPCAThreads(t *testing.T) {
	defer par.SetThreads(par.Threads())
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0)) // gonum's products use that many
	x, _ := clustertest.Blobs(4, 500, 300, 6, 3)
	var want *Result
	for _, threads := range []int{1, 2, 3} {
		par.SetThreads(threads)
		runtime.GOMAXPROCS(threads)
		r, err := Components(t.Context(), x, 500, 300, 2)
		if err != nil {
			t.Fatal(err)
		}
		if want != nil && (!slices.Equal(r.Components, want.Components) || !slices.Equal(r.Projected, want.Projected)) {
			t.Errorf("%d threads differ", threads)
		}
		want = r
	}
}

// Computed by scikit-learn 1.2.1 (numpy float64) on wavy(60, 7), signs turned to
// our convention.
func TestPCASklearn(t *testing.T) {
	r, err := Components(t.Context(), wavy(60, 7), 60, 7, 3)
	if err != nil {
		t.Fatal(err)
	}
	compare := func(what string, got, want []float64) {
		t.Helper()
		for i, w := range want {
			if math.Abs(got[i]-w) > 2e-6 {
				t.Errorf("%s %d: %v, want %v", what, i, got[i], w)
			}
		}
	}
	compare("variance", r.Variance, []float64{2.4676969234275705, 1.8015579925062981, 0.7813741082056297})
	compare("ratio", r.Ratio, []float64{0.42649101093589825, 0.31136250249744674, 0.13504455517368813})
	compare("component entry", r.Components, []float64{
		0.06060432683152559, -0.12581196131011124, 0.0860426401537627, -0.015332255910676083, 0.9782318675601798, -0.01847775406576247, 0.12482402757109405,
		-0.014004936438025625, -0.08012910981435527, 0.08928153660979178, 0.9911770505541899, -0.007899422287766336, 0.018229457866463378, 0.050846191444705285,
		0.04070199774664102, -0.0235621173803014, 0.9899564426708022, -0.08879394540076911, -0.08825570769840675, -0.0036300653391153274, -0.045692489131285305})
	for row, want := range map[int][]float64{
		0:  {0.6768545314447789, 0.15230201443834746, 1.037216239728056},
		17: {-0.793182383205107, 0.8352889001305536, 0.1611963299539464},
		59: {-1.5583467269862927, -1.0041208194140736, 0.9733754364064761},
	} {
		for c, w := range want {
			if got := float64(r.Projected[row*3+c]); math.Abs(got-w) > 2e-6 {
				t.Errorf("row %d component %d: %v, want %v", row, c, got, w)
			}
		}
	}
}

// An ended context stops all of it: the covariance, the eigenvectors, the projection.
func TestComponentsStop(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	x := []float32{1, 0, 0, 2, 3, 1}
	if _, err := Components(ctx, x, 3, 2, 1); !errors.Is(err, context.Canceled) || errors.Is(err, cluster.ErrInput) {
		t.Errorf("%v", err)
	}
	c, err := covariance(t.Context(), cluster.Center(make([]float32, 400*320), 400, 320))
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := leading(ctx, c, 2); !errors.Is(err, context.Canceled) {
		t.Errorf("eigenvectors: %v", err)
	}
}
