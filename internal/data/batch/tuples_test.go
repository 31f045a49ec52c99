package batch

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"testing"

	"tercet/internal/data"
	"tercet/internal/par"
	"tercet/internal/record"
	"tercet/internal/rng"
	"tercet/internal/testutil"
)

// somePairs draws n pairs of items below items; some occur twice, in both
// orders, with both labels.
func somePairs(n, items int, index ...uint64) []Pair {
	r := rng.New(5, "pairs", index...)
	out := make([]Pair, n)
	for k := range out {
		out[k] = Pair{int32(r.IntN(items)), int32(r.IntN(items)), r.IntN(2) == 0}
	}
	out[1] = out[0]
	out[2] = Pair{out[0].J, out[0].I, !out[0].Similar}
	return out
}

func someTriplets(n, items int, index ...uint64) []Triplet {
	r := rng.New(5, "triplets", index...)
	out := make([]Triplet, n)
	for k := range out {
		out[k] = Triplet{int32(r.IntN(items)), int32(r.IntN(items)), int32(r.IntN(items))}
	}
	return out
}

func pairSampler(t *testing.T, draw func(int) []Pair, o TupleOptions) Sampler {
	t.Helper()
	s, err := NewPairSampler(draw, o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// readPairs takes an epoch apart again, row by row.
func readPairs(t *testing.T, s Sampler, epoch int) (out []Pair) {
	t.Helper()
	plan, marks := s.Plan(epoch), s.(RowLabels).RowLabels(epoch)
	if len(plan) != s.Steps() || len(marks) != len(plan) {
		t.Fatalf("%d batches, %d of labels, Steps %d", len(plan), len(marks), s.Steps())
	}
	for b, ids := range plan {
		if len(ids) != len(marks[b]) || len(ids)%2 != 0 || len(ids) == 0 || len(ids) > s.BatchSize() || (b < len(plan)-1 && len(ids) != s.BatchSize()) {
			t.Fatalf("batch %d of %d: %d rows, %d labels", b, len(plan), len(ids), len(marks[b]))
		}
		for r := 0; r < len(ids); r += 2 {
			if marks[b][r] != 0 || (marks[b][r+1] != 0 && marks[b][r+1] != 1) {
				t.Fatalf("labels %v", marks[b][r:r+2])
			}
			out = append(out, Pair{ids[r], ids[r+1], marks[b][r+1] == 0})
		}
	}
	return out
}

func count[T comparable](v []T) map[T]int {
	m := map[T]int{}
	for _, x := range v {
		m[x]++
	}
	return m
}

// Every pair occurs as often as it was given, with its label, in each epoch; the
// epochs' orders differ.
func TestGivenPairsOncePerEpoch(t *testing.T) {
	pairs := somePairs(103, 12)
	given := slices.Clone(pairs)
	draw := func(epoch int) []Pair {
		if epoch != 0 {
			t.Errorf("asked for epoch %d", epoch)
		}
		return pairs
	}
	s := pairSampler(t, draw, TupleOptions{Size: 8, Items: 12, Seed: 1})
	if s.Steps() != 13 || s.BatchSize() != 16 || s.Layout() != LayoutGivenPairs {
		t.Fatalf("steps %d, batch %d, layout %s", s.Steps(), s.BatchSize(), s.Layout())
	}
	var orders [][]Pair
	for epoch := range 3 {
		got := readPairs(t, s, epoch)
		if !reflect.DeepEqual(count(got), count(given)) {
			t.Fatalf("epoch %d shows %v, given %v", epoch, count(got), count(given))
		}
		orders = append(orders, got)
	}
	if slices.Equal(orders[0], orders[1]) || slices.Equal(orders[1], orders[2]) || slices.Equal(orders[0], given) {
		t.Error("orders are alike")
	}
	if !slices.Equal(orders[2], readPairs(t, s, 2)) || !slices.Equal(orders[2], readPairs(t, pairSampler(t, draw, TupleOptions{Size: 8, Seed: 1}), 2)) {
		t.Error("the plan of an epoch changes")
	}
	if slices.Equal(orders[0], readPairs(t, pairSampler(t, draw, TupleOptions{Size: 8, Seed: 2}), 0)) {
		t.Error("the seed does nothing")
	}
	if got := readPairs(t, pairSampler(t, draw, TupleOptions{Size: 8, Seed: 1, DropLast: true}), 1); !slices.Equal(got, orders[1][:96]) {
		t.Error("DropLast changes more than the last batch")
	}
	keep := pairSampler(t, draw, TupleOptions{Size: 8, Keep: true})
	for epoch := range 2 {
		if !slices.Equal(readPairs(t, keep, epoch), given) {
			t.Error("Keep changes the order")
		}
	}
	if !slices.Equal(pairs, given) {
		t.Error("the given pairs were changed")
	}
	// The plan is the caller's.
	clear(s.Plan(2)[0])
	clear(s.(RowLabels).RowLabels(2)[0])
	if !slices.Equal(orders[2], readPairs(t, s, 2)) {
		t.Error("a plan shares memory with the next")
	}
}

func TestGivenTripletsOncePerEpoch(t *testing.T) {
	given := someTriplets(50, 9)
	s, err := NewTripletSampler(func(int) []Triplet { return given }, TupleOptions{Size: 4, Items: 9})
	if err != nil {
		t.Fatal(err)
	}
	if s.Steps() != 13 || s.BatchSize() != 12 || s.Layout() != LayoutGivenTriplets {
		t.Fatalf("steps %d, batch %d, layout %s", s.Steps(), s.BatchSize(), s.Layout())
	}
	for epoch := range 2 {
		var got []Triplet
		marks := s.(RowLabels).RowLabels(epoch)
		for b, ids := range s.Plan(epoch) {
			for r := 0; r < len(ids); r += 3 {
				got = append(got, Triplet{ids[r], ids[r+1], ids[r+2]})
				if !slices.Equal(marks[b][r:r+3], []int32{0, 0, 1}) {
					t.Fatalf("labels %v", marks[b][r:r+3])
				}
			}
		}
		if !reflect.DeepEqual(count(got), count(given)) {
			t.Fatalf("epoch %d shows %v", epoch, got)
		}
		if slices.Equal(got, given) {
			t.Error("not shuffled")
		}
	}
}

// Redrawn pairs are the draw's of the epoch, in whatever order epochs are asked
// for.
func TestGivenPairsRedrawn(t *testing.T) {
	draw := func(epoch int) []Pair { return somePairs(20, 30, uint64(epoch)) }
	s := pairSampler(t, draw, TupleOptions{Size: 6, Redraw: true})
	for _, epoch := range []int{3, 0, 1, 3, 7} {
		if got := readPairs(t, s, epoch); !reflect.DeepEqual(count(got), count(draw(epoch))) {
			t.Errorf("epoch %d shows other pairs", epoch)
		}
	}
	drawn := 0
	s = pairSampler(t, func(epoch int) []Pair { drawn++; return draw(epoch) }, TupleOptions{Size: 6, Redraw: true})
	readPairs(t, s, 0)
	readPairs(t, s, 1)
	if drawn != 2 {
		t.Errorf("two epochs were drawn %d times", drawn)
	}
}

func TestGivenTuplesErrors(t *testing.T) {
	three := func(int) []Pair { return []Pair{{0, 1, true}, {1, 2, false}, {2, 3, true}} }
	for _, c := range []struct {
		draw  func(int) []Pair
		o     TupleOptions
		kind  error
		parts []string
	}{
		{three, TupleOptions{}, nil, []string{"pairs", "0 in a batch", "at least 1"}},
		{three, TupleOptions{Size: -3}, nil, []string{"-3 in a batch"}},
		{func(int) []Pair { return nil }, TupleOptions{Size: 1}, data.ErrUnfit, []string{"pairs", "none"}},
		{three, TupleOptions{Size: 4, DropLast: true}, data.ErrUnfit, []string{"3 make no batch of 4", "smaller"}},
		{three, TupleOptions{Size: 1, Items: 3}, nil, []string{"pair 2", "item 3"}},
		{func(int) []Pair { return []Pair{{0, -1, true}} }, TupleOptions{Size: 1}, nil, []string{"pair 0", "item -1"}},
	} {
		_, err := NewPairSampler(c.draw, c.o)
		testutil.WantError(t, err, c.kind, c.parts...)
	}
	_, err := NewTripletSampler(func(int) []Triplet { return []Triplet{{0, 1, 2}, {0, 1, 9}} }, TupleOptions{Size: 1, Items: 9})
	testutil.WantError(t, err, nil, "triplet 1", "item 9")
	_, err = NewTripletSampler(func(int) []Triplet { return nil }, TupleOptions{Size: 1})
	testutil.WantError(t, err, data.ErrUnfit, "triplets", "none")
	if s := pairSampler(t, three, TupleOptions{Size: 4}); s.Steps() != 1 || len(s.Plan(0)[0]) != 6 {
		t.Error("a short only batch is not made")
	}
}

// What a later draw gets wrong is the loader's error, at its place and for good.
func TestLoaderRefusesBadDraws(t *testing.T) {
	ds := toy(t, 2, 2, 1, 8, 8)
	for _, c := range []struct {
		draw  func(epoch int) []Pair
		items int
		parts []string
	}{
		{func(epoch int) []Pair { return somePairs(6-epoch/2, 16) }, 0, []string{"epoch 2", "there are 5", "epoch 0 had 6"}},
		{func(epoch int) []Pair { return somePairs(6, 16)[:6*(2-epoch)/2] }, 0, []string{"epoch 1", "there are 3"}},
		{func(epoch int) []Pair { return append(somePairs(5, 16), Pair{0, int32(14 + epoch), true}) }, 16, []string{"epoch 2", "pair 5", "item 16"}},
		{func(epoch int) []Pair { return append(somePairs(5, 16), Pair{0, int32(14 + epoch), true}) }, 0, []string{"epoch 2", "item 16 of a dataset of 16"}},
	} {
		for _, ahead := range []int{0, 1, 5} {
			s := pairSampler(t, c.draw, TupleOptions{Size: 3, Redraw: true, Items: c.items})
			l := NewLoader(ds, s, nil, 0, 0, 0, ahead)
			n := 0
			var err error
			for ; err == nil && n < 100; n++ {
				_, err = l.Next(context.Background())
			}
			testutil.WantError(t, err, nil, c.parts...)
			if _, again := l.Next(context.Background()); again != err {
				t.Errorf("then %v", again)
			}
			if n%2 != 1 {
				t.Errorf("the error comes in the middle of an epoch, batch %d", n)
			}
			l.Close()
		}
	}
	s := pairSampler(t, func(epoch int) []Pair { return somePairs(6-epoch, 16) }, TupleOptions{Size: 3, Redraw: true})
	if s.Plan(1) != nil || s.(RowLabels).RowLabels(1) != nil {
		t.Error("a bad draw has a plan")
	}
	l := NewLoader(ds, s, nil, 0, 1, 0, 2) // begins there
	defer l.Close()
	_, err := l.Next(context.Background())
	testutil.WantError(t, err, nil, "epoch 1", "there are 5")
}

// crooked labels rows badly.
type crooked struct {
	Sampler
	marks [][]int32
}

func (c crooked) RowLabels(int) [][]int32 { return c.marks }

func TestLoaderRefusesBadRowLabels(t *testing.T) {
	ds := toy(t, 2, 2, 1, 3, 3)
	s := ordered(ds, 4, false)
	for _, c := range []struct {
		marks [][]int32
		part  string
	}{
		{[][]int32{{0, 1, 2, 3}}, "labels 1 batches of 2"},
		{[][]int32{{0, 1, 2, 3}, {1}}, "step 1: the sampler labels 1 rows of 2"},
		{nil, "labels 0 batches of 2"},
	} {
		_, err := NewLoader(ds, crooked{s, c.marks}, nil, 0, 0, 0, 0).Next(context.Background())
		testutil.WantError(t, err, nil, c.part)
	}
}

// The loader's batches against the definition, with any number of threads, any
// read-ahead, from any place.
func TestLoaderTakesRowLabels(t *testing.T) {
	defer par.SetThreads(0)
	ds := toy(t, 4, 3, 1, 9, 9)
	for _, o := range []TupleOptions{{Size: 4, Seed: 2}, {Size: 4, Redraw: true}, {Size: 4, Keep: true, DropLast: true}} {
		draw := func(epoch int) []Pair { return somePairs(22, 18, uint64(epoch)) }
		s := pairSampler(t, draw, o)
		per := s.Steps()
		var want []Batch
		for epoch := range 4 {
			marks := s.(RowLabels).RowLabels(epoch)
			for step, ids := range s.Plan(epoch) {
				b := Batch{Index: ids, Labels: marks[step], Epoch: epoch, Step: step}
				var err error
				if b.Images, err = gathered(ds, ids); err != nil {
					t.Fatal(err)
				}
				want = append(want, b)
			}
		}
		for _, threads := range []int{1, 3} {
			par.SetThreads(threads)
			for _, ahead := range []int{0, 1, 7} {
				for _, from := range []int{0, 1, per - 1, per, 2*per + 3} {
					what := fmt.Sprintf("%+v, threads %d, ahead %d, from %d", o, threads, ahead, from)
					fresh := pairSampler(t, draw, o)
					same(t, what, take(t, NewLoader(ds, fresh, nil, 0, from/per, from%per, ahead), len(want)-from), want[from:])
				}
			}
		}
	}
}

func TestCoverageOfGivenTuples(t *testing.T) {
	ds := toy(t, 2, 2, 1, 5, 5, 5)
	y := ds.Labels()
	first := func(k int32) int32 { return int32(slices.Index(y, k)) }
	a, b := first(0), first(1)
	pairs := []Pair{{a, b, false}, {b, a, false}, {a, a, true}, {b, a, true}, {b, b, false}}
	s := pairSampler(t, func(int) []Pair { return pairs }, TupleOptions{Size: 2, Keep: true})
	want := record.Coverage{Items: 15, Seen: 2, Rows: 10, Repeats: 8, MaxRepeat: 5, Classes: 3, ClassesSeen: 2, Batches: 3, ShortBatch: 2, SelfPairs: 2, MinClasses: 1}
	if got := Cover(s, ds, 0); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	tr, err := NewTripletSampler(func(int) []Triplet { return []Triplet{{a, a, b}, {a, b, a}} }, TupleOptions{Size: 2})
	if err != nil {
		t.Fatal(err)
	}
	want = record.Coverage{Items: 15, Seen: 2, Rows: 6, Repeats: 4, MaxRepeat: 4, Classes: 3, ClassesSeen: 2, Batches: 1, MinClasses: 2}
	if got := Cover(tr, ds, 4); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

// An epoch's plan is all that allocates.
func TestLoaderAllocatesNothingForRowLabels(t *testing.T) {
	ds := toy(t, 4, 4, 1, 40, 40)
	pairs := somePairs(800, 80)
	s := pairSampler(t, func(int) []Pair { return pairs }, TupleOptions{Size: 4})
	l := NewLoader(ds, s, nil, 0, 0, 0, 0)
	step := func() {
		b, err := l.Next(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		l.Recycle(b)
	}
	step()
	if n := testing.AllocsPerRun(150, step); n != 0 {
		t.Errorf("%v allocations a batch", n)
	}
}
