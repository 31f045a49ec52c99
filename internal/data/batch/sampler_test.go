package batch

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"testing"

	"tercet/internal/data"
	"tercet/internal/rng"
	"tercet/internal/testutil"
)

func sampler(t *testing.T, ds data.Dataset, k ByLabels, o Options) Sampler {
	t.Helper()
	s, err := k.New(ds, o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

var everySampler = []struct {
	k ByLabels
	o Options
}{
	{ClassPairs{Pairs: 4, Repeats: true}, Options{}},
	{ClassPairs{Pairs: 4, Repeats: true}, Options{DropLast: true}},
	{ClassPairs{Pairs: 4}, Options{}},
	{MPerClass{Classes: 3, PerClass: 3}, Options{}},
	{MPerClass{Classes: 3, PerClass: 2}, Options{}},
	{Balanced{Classes: 3, PerClass: 2}, Options{}},
	{Balanced{Classes: 3, PerClass: 4, Replacement: true}, Options{}},
}

// What every sampler promises, on data whose classes differ in size.
func TestPlansArePureAndKeepTheLayout(t *testing.T) {
	ds := toy(t, 1, 1, 1, 9, 5, 1, 14, 6, 3)
	y := ds.Labels()
	for _, o := range everySampler {
		s := sampler(t, ds, o.k, o.o)
		plans := [][][]int32{s.Plan(0), s.Plan(1)}
		if !reflect.DeepEqual(plans[0], s.Plan(0)) || !reflect.DeepEqual(plans[0], sampler(t, ds, o.k, o.o).Plan(0)) {
			t.Errorf("%+v: the plan of an epoch changes", o)
		}
		if reflect.DeepEqual(plans[0], plans[1]) {
			t.Errorf("%+v: epochs are alike", o)
		}
		o.o.Seed = 1
		if reflect.DeepEqual(plans[0], sampler(t, ds, o.k, o.o).Plan(0)) {
			t.Errorf("%+v: the seed does nothing", o)
		}
		for _, plan := range plans {
			if len(plan) != s.Steps() {
				t.Errorf("%+v: %d batches, Steps %d", o, len(plan), s.Steps())
			}
			for b, ids := range plan {
				if len(ids) > s.BatchSize() || len(ids) == 0 || (len(ids) < s.BatchSize() && b != len(plan)-1) {
					t.Errorf("%+v: batch %d of %d has %d items", o, b, len(plan), len(ids))
				}
				for r := 1; s.Layout() == LayoutPairs && r < len(ids); r += 2 {
					if y[ids[r]] != y[ids[r-1]] {
						t.Errorf("%+v: rows %d and %d are of two classes", o, r-1, r)
					}
				}
			}
		}
	}
}

func TestClassPairsAsPublished(t *testing.T) {
	ds := toy(t, 1, 1, 1, 50, 30, 1, 22) // 103 items
	s := sampler(t, ds, ClassPairs{Pairs: 8, Repeats: true}, Options{})
	if s.Steps() != 13 || s.BatchSize() != 16 || s.Layout() != LayoutPairs {
		t.Fatalf("steps %d, batch %d, layout %s", s.Steps(), s.BatchSize(), s.Layout())
	}
	plan := s.Plan(3)
	first := map[int32]int{}
	for _, ids := range plan {
		for r := 0; r < len(ids); r += 2 {
			first[ids[r]]++
		}
	}
	for i := range int32(103) {
		if first[i] != 1 {
			t.Fatalf("item %d comes first %d times in an epoch", i, first[i])
		}
	}
	if n := len(plan[12]); n != 2*(103-12*8) {
		t.Errorf("last batch has %d items", n)
	}
	dropped := sampler(t, ds, ClassPairs{Pairs: 8, Repeats: true}, Options{DropLast: true})
	if got := dropped.Plan(3); len(got) != 12 || !reflect.DeepEqual(got, plan[:12]) {
		t.Error("DropLast changes more than the last batch")
	}
}

// The partner is uniform over the class, the item itself included.
func TestClassPairsPartnerIsUniform(t *testing.T) {
	ds := toy(t, 1, 1, 1, 4, 3)
	s := sampler(t, ds, ClassPairs{Pairs: 7, Repeats: true}, Options{})
	const epochs = 6000
	var count [7][7]float64
	for e := range epochs {
		ids := s.Plan(e)[0]
		for r := 0; r < len(ids); r += 2 {
			count[ids[r]][ids[r+1]]++
		}
	}
	y := ds.Labels()
	for i := range count {
		for j, n := range count[i] {
			p := 0.0
			if y[i] == y[j] {
				p = 1 / float64(4-y[i])
			}
			if sd := math.Sqrt(epochs * p * (1 - p)); math.Abs(n-epochs*p) > 4.5*sd {
				t.Errorf("partner %d of %d: %v times in %d epochs, want about %v", j, i, n, epochs, epochs*p)
			}
		}
	}
}

func TestDistinctPairs(t *testing.T) {
	for name, counts := range map[string][]int{
		"balanced":   {12, 12, 12, 12, 12, 12},
		"unbalanced": {40, 3, 7, 7, 2, 9, 5},
		"singles":    {6, 1, 6, 1, 6, 6, 1},
		"exact":      {5, 5, 5, 5},
	} {
		ds := toy(t, 1, 1, 1, counts...)
		s := sampler(t, ds, ClassPairs{Pairs: 4}, Options{})
		y := ds.Labels()
		for e := range 5 {
			first := map[int32]bool{}
			for b, ids := range s.Plan(e) {
				classes := map[int32]bool{}
				for r := 0; r < len(ids); r += 2 {
					if ids[r] == ids[r+1] {
						t.Errorf("%s: item %d is paired with itself", name, ids[r])
					}
					if first[ids[r]] {
						t.Errorf("%s: item %d comes first twice", name, ids[r])
					}
					first[ids[r]] = true
					classes[y[ids[r]]] = true
				}
				if len(classes) != 4 || len(ids) != 8 {
					t.Errorf("%s: batch %d has %d classes and %d items", name, b, len(classes), len(ids))
				}
			}
			if (name == "balanced" || name == "exact") && len(first) != ds.Len() {
				t.Errorf("%s: %d of %d items come first", name, len(first), ds.Len())
			}
		}
	}
}

// The partner in distinct pairs is uniform over the rest of the class.
func TestDistinctPairsPartnerIsUniform(t *testing.T) {
	ds := toy(t, 1, 1, 1, 4, 4)
	s := sampler(t, ds, ClassPairs{Pairs: 2}, Options{})
	const epochs = 3000
	var count [8][8]float64
	for e := range epochs {
		for _, ids := range s.Plan(e) {
			for r := 0; r < len(ids); r += 2 {
				count[ids[r]][ids[r+1]]++
			}
		}
	}
	y := ds.Labels()
	for i := range count {
		for j, n := range count[i] {
			p := 0.0
			if y[i] == y[j] && i != j {
				p = 1.0 / 3
			}
			if sd := math.Sqrt(epochs * p * (1 - p)); math.Abs(n-epochs*p) > 4.5*sd {
				t.Errorf("partner %d of %d: %v times, want about %v", j, i, n, epochs*p)
			}
		}
	}
}

func TestPerClass(t *testing.T) {
	ds := toy(t, 1, 1, 1, 8, 10, 12, 2, 1, 12)
	s := sampler(t, ds, MPerClass{Classes: 2, PerClass: 4}, Options{})
	y := ds.Labels()
	for e := range 5 {
		times := map[int32]int{}
		for b, ids := range s.Plan(e) {
			var classes []int32
			for r, i := range ids {
				times[i]++
				if r%4 == 0 {
					classes = append(classes, y[i])
				}
				if y[i] != classes[r/4] {
					t.Errorf("batch %d row %d leaves its class", b, r)
				}
				if y[i] != 3 && slices.Contains(ids[:r], i) { // class 3 has two items only
					t.Errorf("batch %d has item %d twice", b, i)
				}
			}
			if len(ids) != 8 || len(classes) != 2 || classes[0] == classes[1] {
				t.Errorf("batch %d: %d items of classes %v", b, len(ids), classes)
			}
		}
		for i, k := range y {
			// 8, 10, 12, 2 and 12 items make 2, 3, 3, 1 and 3 groups of 4: 12 in
			// all, 6 batches of 2. The 10 items fill 12 places, the 2 fill 4.
			lo, hi := 1, 1
			switch k {
			case 1:
				hi = 2
			case 3:
				lo, hi = 2, 2
			case 4:
				lo, hi = 0, 0
			}
			if n := times[int32(i)]; n < lo || n > hi {
				t.Errorf("epoch %d: item %d of class %d occurs %d times", e, i, k, n)
			}
		}
	}
}

// dealSteps against trying every T, and deal against its promise.
func TestDealMakesAsManyBatchesAsCanBe(t *testing.T) {
	r := rng.New(5, "deal")
	for range 300 {
		counts := make([]int, 2+r.IntN(7))
		total, usable := 0, 0
		for k := range counts {
			counts[k] = r.IntN(12)
			total += counts[k]
			if counts[k] > 0 {
				usable++
			}
		}
		p := 2 + r.IntN(4)
		if usable < p {
			continue
		}
		want := 0
		for T := 1; T <= total; T++ {
			sum := 0
			for _, n := range counts {
				sum += min(n, T)
			}
			if sum >= p*T {
				want = T
			}
		}
		if got := dealSteps(counts, p); got != want {
			t.Fatalf("counts %v, p %d: %d steps, want %d", counts, p, got, want)
		}
		used := make([]int, len(counts))
		out := deal(counts, p, want, r)
		if len(out) != p*want {
			t.Fatalf("%d classes dealt, want %d", len(out), p*want)
		}
		for b := 0; b < len(out); b += p {
			seen := map[int32]bool{}
			for _, k := range out[b : b+p] {
				used[k]++
				seen[k] = true
			}
			if len(seen) != p {
				t.Fatalf("counts %v: batch %v", counts, out[b:b+p])
			}
		}
		for k := range used {
			if used[k] > counts[k] {
				t.Fatalf("counts %v: class %d used %d times", counts, k, used[k])
			}
		}
	}
}

func TestCoverage(t *testing.T) {
	ds := toy(t, 1, 1, 1, 6, 6, 1) // 13 items
	c := Cover(sampler(t, ds, ClassPairs{Pairs: 4, Repeats: true}, Options{}), ds, 0)
	if c.Items != 13 || c.Seen != 13 || c.Rows != 26 || c.Repeats != 13 || c.Classes != 3 || c.ClassesSeen != 3 || c.Batches != 4 || c.ShortBatch != 2 || c.SelfPairs < 1 || c.MaxRepeat < 2 {
		t.Errorf("class-pairs: %+v", c)
	}
	c = Cover(sampler(t, ds, ClassPairs{Pairs: 2}, Options{}), ds, 0)
	if c.Seen != 12 || c.ClassesSeen != 2 || c.Classes != 3 || c.SelfPairs != 0 || c.MinClasses != 2 || c.ShortBatch != 0 {
		t.Errorf("class-pairs-distinct: %+v", c)
	}
	c = Cover(sampler(t, ds, MPerClass{Classes: 2, PerClass: 3}, Options{}), ds, 0)
	if c.Seen != 12 || c.Rows != 12 || c.MaxRepeat != 1 || c.Batches != 2 {
		t.Errorf("m-per-class: %+v", c)
	}
	want := "12 of 13 items (92.3 %) and 2 of 3 classes in 2 batches; 12 images drawn, an item at most 1 times; at least 2 classes in a batch"
	if got := c.String(); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestSamplerErrors(t *testing.T) {
	two := toy(t, 1, 1, 1, 5, 5)
	for _, c := range []struct {
		name string
		ds   data.Dataset
		k    ByLabels
		o    Options
		kind error
		say  []string
	}{
		{"no pairs", two, ClassPairs{Repeats: true}, Options{}, nil, []string{"0 pairs"}},
		{"fewer samples than a batch", two, ClassPairs{Pairs: 11, Repeats: true}, Options{}, data.ErrUnfit, []string{"10 samples", "11 pairs"}},
		{"fewer samples than a batch", two, ClassPairs{Pairs: 11}, Options{}, data.ErrUnfit, []string{"10 samples"}},
		{"fewer samples than a batch", two, MPerClass{Classes: 2, PerClass: 6}, Options{}, data.ErrUnfit, []string{"10 samples", "2 x 6"}},
		{"one class", toy(t, 1, 1, 1, 9), ClassPairs{Pairs: 2, Repeats: true}, Options{}, data.ErrUnfit, []string{"1 class", "at least 2"}},
		{"one class", toy(t, 1, 1, 1, 9, 0), ClassPairs{Pairs: 2}, Options{}, data.ErrUnfit, []string{"1 class"}},
		{"one class", toy(t, 1, 1, 1, 9), MPerClass{Classes: 2, PerClass: 2}, Options{}, data.ErrUnfit, []string{"1 class"}},
		{"too few classes", two, ClassPairs{Pairs: 3}, Options{}, data.ErrUnfit, []string{"2 classes", "3 pairs", "at most 2"}},
		{"too few classes", two, MPerClass{Classes: 3, PerClass: 2}, Options{}, data.ErrUnfit, []string{"2 classes", "needs 3"}},
		{"single samples", toy(t, 1, 1, 1, 5, 1, 1), ClassPairs{Pairs: 2}, Options{}, data.ErrUnfit, []string{"1 classes have two samples"}},
		{"single samples", toy(t, 1, 1, 1, 5, 1, 1), MPerClass{Classes: 2, PerClass: 2}, Options{}, data.ErrUnfit, []string{"1 classes have two samples"}},
		{"m of 1", two, MPerClass{Classes: 2, PerClass: 1}, Options{}, nil, []string{"at least 2"}},
	} {
		t.Run(fmt.Sprintf("%T %s", c.k, c.name), func(t *testing.T) {
			_, err := c.k.New(c.ds, c.o)
			testutil.WantError(t, err, c.kind, c.say...)
		})
	}
}

// numbered is a sampler whose batch s of epoch e is the item 100 e + s.
type numbered struct{ steps int }

func (n numbered) Steps() int     { return n.steps }
func (n numbered) BatchSize() int { return 1 }
func (n numbered) Layout() string { return LayoutGeneral }
func (n numbered) Plan(epoch int) (out [][]int32) {
	for s := range n.steps {
		out = append(out, []int32{int32(100*epoch + s)})
	}
	return out
}

func TestReplay(t *testing.T) {
	t.Parallel()
	s := Replay(numbered{5}, 3)
	var got []int32
	for epoch := range 4 {
		plan := s.Plan(epoch)
		if len(plan) != 5 {
			t.Fatalf("epoch %d has %d batches", epoch, len(plan))
		}
		for _, b := range plan {
			got = append(got, b...)
		}
	}
	if want := []int32{0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4, 100, 100, 100, 101, 101}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if s.Steps() != 5 || s.BatchSize() != 1 || s.Layout() != LayoutGeneral || Replay(numbered{5}, 1) != Sampler(numbered{5}) {
		t.Error("a replay changes more than the order")
	}
}
