package attack

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"tercet/internal/engine/adversary"
	"tercet/internal/engine/array"
	"tercet/internal/engine/nn"
	"tercet/internal/par"
	"tercet/internal/rng"
)

func tiny() Profile { return Profile{"tiny", 0.1, 0.02, 8} }

func galleryOf(m *model, s set) *array.Array { return m.Embed(s.x, nn.Eval).Clone() }

func TestESAgainstPlainLoops(t *testing.T) {
	const n, batch = 23, 8
	m := newModel(1, 6, 10, 4)
	s, labels := newSet(2, n, 4)
	labels[5] = 77 // nobody else: not attacked
	gallery := galleryOf(m, s)
	p := tiny()
	m.images, m.back = 0, 0
	var progress []int
	r, err := ES(context.Background(), m, s, gallery, labels, ESOptions{PGD: p.PGD(), Batch: batch, Pictures: 11, Progress: func(done, total int) {
		progress = append(progress, done, total)
	}})
	if err != nil {
		t.Fatal(err)
	}
	if fmt.Sprint(progress) != "[8 22 16 22 22 22]" || r.Excluded != 1 || len(r.Queries) != n-1 || slices.Contains(r.Queries, 5) {
		t.Fatalf("progress %v, queries %v, excluded %d", progress, r.Queries, r.Excluded)
	}
	sum := func(f func(i int) float64) (perQuery, perBatch float64) {
		for lo := 0; lo < n-1; lo += batch {
			hi, part := min(lo+batch, n-1), 0.0
			for i := lo; i < hi; i++ {
				perQuery += f(i) / (n - 1)
				part += f(i)
			}
			perBatch += part / float64(hi-lo) / 3
		}
		return
	}
	bit := func(b bool) float64 {
		if b {
			return 1
		}
		return 0
	}
	shiftLast, shiftPrevious := make([]float64, n-1), make([]float64, n-1)
	hit, cleanHit := make([]bool, n-1), make([]bool, n-1)
	flipped := 0
	if len(r.Kept) != 11 || r.Kept[0] != 0 || r.Kept[10] != 10*len(r.Queries)/11 {
		t.Errorf("pictures of queries %v of %d", r.Kept, len(r.Queries))
	}
	for i, q := range r.Queries {
		x0 := wide(s.x.Row(q))
		previous, last, x := m.plainES(x0, p.Eps, p.Step, p.Iterations)
		_, _, q0 := m.plain(x0)
		for k := range q0 {
			shiftPrevious[i] += (previous[k] - q0[k] + 1e-6) * (previous[k] - q0[k] + 1e-6)
			shiftLast[i] += (last[k] - q0[k]) * (last[k] - q0[k])
		}
		shiftPrevious[i], shiftLast[i] = math.Sqrt(shiftPrevious[i]), math.Sqrt(shiftLast[i])
		hit[i] = labels[plainNearest(gallery, last, q)] == labels[q]
		cleanHit[i] = labels[plainNearest(gallery, q0, q)] == labels[q]
		if hit[i] != cleanHit[i] {
			flipped++
		}
		if math.Abs(r.Published.Shift[i]-shiftPrevious[i]) > 1e-5 || math.Abs(r.Fixed.Shift[i]-shiftLast[i]) > 1e-5 {
			t.Errorf("query %d: shifts %v and %v, want %v and %v", q, r.Published.Shift[i], r.Fixed.Shift[i], shiftPrevious[i], shiftLast[i])
		}
		// No duplicates here, so the two ways to mask agree.
		if r.Published.Hit[i] != hit[i] || r.Fixed.Hit[i] != hit[i] || r.Published.CleanHit[i] != cleanHit[i] || r.Fixed.CleanHit[i] != cleanHit[i] {
			t.Errorf("query %d: hits %v %v, clean %v %v; want %v, clean %v", q, r.Published.Hit[i], r.Fixed.Hit[i], r.Published.CleanHit[i], r.Fixed.CleanHit[i], hit[i], cleanHit[i])
		}
		if p := slices.Index(r.Kept, i); p >= 0 {
			for k, v := range x {
				if math.Abs(float64(r.Adversarial.Row(p)[k])-v) > 1e-5 || r.Clean.Row(p)[k] != s.x.Row(q)[k] {
					t.Fatalf("picture %d differs in pixel %d", p, k)
				}
			}
		}
		linf := 0.0
		for k := range x {
			linf = math.Max(linf, math.Abs(x[k]-x0[k]))
		}
		if math.Abs(r.Linf[i]-linf) > 1e-6 {
			t.Errorf("query %d: radius %v, want %v", q, r.Linf[i], linf)
		}
	}
	if flipped == 0 {
		t.Fatal("the attack flips no query: the test shows nothing")
	}
	check := func(what string, got, want float64) {
		if math.Abs(got-want) > 1e-5 {
			t.Errorf("%s is %v, want %v", what, got, want)
		}
	}
	_, d := sum(func(i int) float64 { return shiftPrevious[i] })
	check("published ES:D", r.Published.D, d)
	d, _ = sum(func(i int) float64 { return shiftLast[i] })
	check("fixed ES:D", r.Fixed.D, d)
	fixed, published := sum(func(i int) float64 { return bit(hit[i]) })
	check("published ES:R", r.Published.R, published)
	check("fixed ES:R", r.Fixed.R, fixed)
	fixed, published = sum(func(i int) float64 { return bit(cleanHit[i]) })
	check("published recall", r.Published.CleanR, published)
	check("fixed recall", r.Fixed.CleanR, fixed)
	check("zero gradients", r.ZeroGradient, 0)
	if want := (adversary.Cost{Forward: 22 * (1 + 8 + 1), Backward: 22 * 8}); r.Cost != want || int(want.Forward) != m.images || int(want.Backward) != m.back {
		t.Errorf("cost %+v, want %+v; the model saw %d and %d", r.Cost, want, m.images, m.back)
	}
	cosine := 0.0
	for i := range n {
		for j := range n {
			if i != j {
				for k, v := range gallery.Row(i) {
					cosine += float64(v) * float64(gallery.Row(j)[k]) / (n * (n - 1))
				}
			}
		}
	}
	check("mean cosine", r.MeanCosine, cosine)
	if r.NotNormalized || r.Collapsed {
		t.Error("warned about a normalised, spread gallery")
	}
}

// Images 0 and 3 are the same picture under two labels. The query 3 finds the copy
// at 0 nearest to its clean embedding: the published score masks that one and so
// meets its own copy; by index, its own copy is masked and the wrong label found.
func TestESMasksItsOwnCopy(t *testing.T) {
	m := newModel(3, 6, 8, 3)
	s, _ := newSet(4, 6, 3)
	copy(s.x.Row(3), s.x.Row(0))
	labels := []int32{0, 0, 0, 1, 1, 1}
	o := ESOptions{PGD: tiny().PGD()}
	o.PGD.Eps = 0 // no move: the masks alone decide
	r, err := ES(context.Background(), m, s, galleryOf(m, s), labels, o)
	if err != nil {
		t.Fatal(err)
	}
	if !r.Published.Hit[3] || r.Fixed.Hit[3] || r.Fixed.CleanHit[3] {
		t.Errorf("published %v, fixed %v and %v", r.Published.Hit[3], r.Fixed.Hit[3], r.Fixed.CleanHit[3])
	}
	if r.Fixed.D != 0 || math.Abs(r.Published.D-1e-6*math.Sqrt(3)) > 1e-12 || r.Radius != (adversary.Radius{}) {
		t.Errorf("eps 0: ES:D %v and %v, radius %+v", r.Fixed.D, r.Published.D, r.Radius)
	}
}

func TestESDoesNotDependOnBatchOrThreads(t *testing.T) {
	defer par.SetThreads(0)
	s, labels := newSet(6, 20, 4)
	want := ""
	for _, threads := range []int{1, 2} {
		for _, batch := range []int{20, 7, 1} {
			par.SetThreads(threads)
			m := newModel(5, 6, 8, 3)
			o := ESOptions{PGD: tiny().PGD(), Batch: batch, Seed: 9, Pictures: 20}
			o.PGD.Start = adversary.FromRandom
			r, err := ES(context.Background(), m, s, galleryOf(m, s), labels, o)
			if err != nil {
				t.Fatal(err)
			}
			got := fmt.Sprintf("%x %x %v %v %x %x %v", r.Published.Shift, r.Fixed.Shift, r.Published.Hit, r.Fixed.Hit, r.Linf, r.Adversarial.Data, r.Fixed.D)
			if want == "" {
				want = got
			}
			if got != want {
				t.Fatalf("%d threads, batches of %d: other bits", threads, batch)
			}
		}
	}
}

func TestESChoosesQueries(t *testing.T) {
	m := newModel(5, 6, 8, 3)
	s, labels := newSet(6, 20, 4)
	o := ESOptions{PGD: tiny().PGD(), Queries: 6}
	first, err := ES(context.Background(), m, s, galleryOf(m, s), labels, o)
	if err != nil || fmt.Sprint(first.Queries) != "[0 1 2 3 4 5]" {
		t.Fatal(first, err)
	}
	seen := map[int]int{}
	for seed := range uint64(400) {
		o.Sample, o.Seed = true, seed
		q, excluded, err := chooseQueries(labels, o)
		if err != nil || len(q) != 6 || !slices.IsSorted(q) || excluded != 0 || len(slices.Compact(slices.Clone(q))) != 6 {
			t.Fatal(q, excluded, err)
		}
		for _, i := range q {
			seen[i]++
		}
	}
	for i := range 20 { // 120 expected, standard deviation 9
		if seen[i] < 80 || seen[i] > 160 {
			t.Errorf("image %d drawn %d times of 120 expected", i, seen[i])
		}
	}
	o.Queries = 100
	if q, _, err := chooseQueries(labels, o); err != nil || len(q) != 20 {
		t.Error(q, err)
	}
}

func TestESWarnings(t *testing.T) {
	s, labels := newSet(6, 12, 3)
	m := newModel(5, 6, 8, 3)
	m.raw = true
	r, err := ES(context.Background(), m, s, galleryOf(m, s), labels, ESOptions{PGD: tiny().PGD()})
	if err != nil || !r.NotNormalized {
		t.Error("not normalised", err)
	}
	flat := newModel(5, 6, 8, 3)
	for b := range flat.w { // all embeddings point the same way: y = (1,1,1) s
		copy(flat.w[b], flat.w[0])
	}
	for a := range flat.v {
		for k := range flat.v[a] {
			flat.v[a][k] = math.Abs(flat.v[a][k])
		}
		flat.w[0][a] = math.Abs(flat.w[0][a])
	}
	for b := range flat.w {
		copy(flat.w[b], flat.w[0])
	}
	r, err = ES(context.Background(), flat, s, galleryOf(flat, s), labels, ESOptions{PGD: tiny().PGD()})
	if err != nil || !r.Collapsed || r.Fixed.D > 1e-6 {
		t.Errorf("collapsed: %v, %+v", err, r)
	}
}

func TestESErrors(t *testing.T) {
	m := newModel(5, 6, 8, 3)
	s, labels := newSet(6, 12, 3)
	gallery := galleryOf(m, s)
	other := galleryOf(newModel(6, 6, 8, 3), s)
	nan := gallery.Clone()
	nan.Row(4)[1] = float32(math.NaN())
	stop, cancel := context.WithCancel(context.Background())
	cancel()
	alone := make([]int32, 12)
	for i := range alone {
		alone[i] = int32(i)
	}
	bright := set{s.x.Clone(), -1}
	bright.x.Row(2)[0] = 1.5
	for _, c := range []struct {
		name    string
		ctx     context.Context
		s       set
		gallery *array.Array
		labels  []int32
		change  func(o *ESOptions)
		want    string
	}{
		{"cancelled", stop, s, gallery, labels, nil, "stopped after 0 of 12 queries"},
		{"gallery of another model", nil, s, other, labels, nil, "gallery row 0 is not the model's embedding of image 0"},
		{"gallery shape", nil, s, array.New(12, 4), labels, nil, "gallery is [12 4], want [12 3]"},
		{"gallery length", nil, s, array.New(11, 3), labels, nil, "gallery is [11 3], want [12 3]"},
		{"NaN", nil, s, nan, labels, nil, "gallery embedding 4 is NaN in coordinate 1"},
		{"labels", nil, s, gallery, labels[:5], nil, "5 labels for 12 images"},
		{"singletons", nil, s, gallery, alone, nil, "none of the 12 images has another one of its label"},
		{"read", nil, set{s.x, 7}, gallery, labels, nil, "image 7: torn page"},
		{"pixels", nil, bright, galleryOf(m, bright), labels, nil, "image 2, element 0 is 1.5"},
		{"batch", nil, s, gallery, labels, func(o *ESOptions) { o.Batch = -1 }, "batch -1"},
		{"pgd", nil, s, gallery, labels, func(o *ESOptions) { o.PGD.Iterations = 0 }, "iterations is 0"},
	} {
		o := ESOptions{PGD: tiny().PGD()}
		if c.change != nil {
			c.change(&o)
		}
		if c.ctx == nil {
			c.ctx = context.Background()
		}
		r, err := ES(c.ctx, m, c.s, c.gallery, c.labels, o)
		if err == nil || r != nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
		if c.name == "cancelled" && !errors.Is(err, context.Canceled) {
			t.Error("the context's error is lost")
		}
	}
	if _, err := ProfileNamed("rob42"); err == nil || !strings.Contains(err.Error(), "rob28, rob224") {
		t.Error(err)
	}
}

func TestProfilesAreThePublishedOnes(t *testing.T) {
	for name, code := range map[string][2]float64{"rob28": {0.30196, 0.011764}, "rob224": {0.03137, 0.011764}} {
		p, err := ProfileNamed(name)
		pgd := p.PGD()
		if err != nil || pgd.Validate() != nil || math.Abs(p.Eps-code[0]) > 3e-6 || math.Abs(p.Step-code[1]) > 3e-6 || p.Iterations != 32 {
			t.Errorf("%+v, %v", p, err)
		}
	}
}

// The search against a full sort in float64, with duplicates, near-equal points
// far from the origin, and a collapsed gallery.
func TestNearestIsExact(t *testing.T) {
	r := rng.New(8, "nearest")
	for _, c := range []struct {
		n, d   int
		offset float64
		scale  float64
	}{{2, 1, 0, 1}, {50, 3, 0, 1}, {200, 16, 0, 0.3}, {120, 8, 30, 1e-3}, {40, 5, 1, 0}} {
		g := array.New(c.n, c.d)
		for i := range g.Data {
			g.Data[i] = float32(c.offset + c.scale*r.NormFloat64())
		}
		copy(g.Row(c.n-1), g.Row(0))
		q := array.New(9, c.d)
		for i := range q.Data {
			q.Data[i] = float32(c.offset + c.scale*r.NormFloat64())
		}
		copy(q.Row(0), g.Row(0))
		s := newNearest(g)
		s.find(q)
		for i := range 9 {
			first := plainNearest(g, wide(q.Row(i)), -1)
			second := plainNearest(g, wide(q.Row(i)), first)
			if int(s.first[i]) != first || int(s.second[i]) != second {
				t.Errorf("%+v query %d: %d and %d, want %d and %d", c, i, s.first[i], s.second[i], first, second)
			}
		}
	}
}
