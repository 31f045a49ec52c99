package loss

import (
	"fmt"
	"math"
	"runtime"
	"testing"

	"tercet/internal/engine/array"
	"tercet/internal/par"
	"tercet/internal/rng"
)

// allPairs lists each pair of a batch of that many rows in the given number of
// classes.
func allPairs(rows, classes int) []Pair {
	var out []Pair
	for i := range rows {
		for j := range i {
			out = append(out, Pair{int32(j), int32(i), i%classes == j%classes})
		}
	}
	return out
}

func TestMarginLossesSameBitsForAnyThreads(t *testing.T) {
	defer par.SetThreads(0)
	r := rng.New(4, "margins")
	z := random(r, 40, 200, 0.1)
	for name, ts := range map[string]*Tuples{
		"few":  {Triplets: randomTriplets(r, 40, 300), Pairs: randomPairs(r, 40, 300)},
		"many": {Triplets: allTriplets(40, 4), Pairs: allPairs(40, 4)},
	} {
		for _, c := range marginCases() {
			var want string
			for _, threads := range []int{1, 3} {
				par.SetThreads(threads)
				grad := array.New(40, 200)
				res, err := c.build(t).Eval(z, ts, grad)
				if err != nil {
					t.Fatal(err)
				}
				s := fmt.Sprintf("%x %x", math.Float64bits(res.Loss), grad.Data)
				if want == "" {
					want = s
				}
				if s != want {
					t.Fatalf("%+v, %s: %d threads give other bits", c, name, threads)
				}
			}
		}
	}
}

func TestMarginLossesAllocateNothing(t *testing.T) {
	r := rng.New(5, "margins")
	z := random(r, 32, 128, 0.1)
	grad := array.New(32, 128)
	few := &Tuples{Triplets: randomTriplets(r, 32, 64), Pairs: randomPairs(r, 32, 64)}
	many := &Tuples{Triplets: allTriplets(32, 4), Pairs: allPairs(32, 4)}
	for _, name := range []string{"L2", "L3", "pairs"} {
		l := marginCase{name, 1, 0.5, Mean}.build(t)
		step := func() {
			for _, ts := range []*Tuples{few, many} {
				if _, err := l.Eval(z, ts, grad); err != nil {
					t.Fatal(err)
				}
			}
		}
		for range 100 {
			step()
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for range 200 {
			step()
		}
		runtime.ReadMemStats(&after)
		if a := after.Mallocs - before.Mallocs; a > 100 { // a worker that lags keeps a job: some
			t.Fatalf("%s: %d allocations in 200 evaluations", name, a)
		}
	}
}

func BenchmarkMarginLosses(b *testing.B) {
	const rows, classes = 128, 10
	z := random(rng.New(5, "margins"), rows, 128, 0.05)
	grad := array.New(rows, 128)
	ts := &Tuples{Triplets: allTriplets(rows, classes), Pairs: allPairs(rows, classes)}
	triplets, _ := NewThreshold(ThresholdDefaults())
	pairs, _ := NewThreshold(ThresholdOptions{1, 0.5, Sum, ByPairs})
	capped, _ := NewCapped(CappedDefaults())
	for name, l := range map[string]Objective{"capped-batch-all": capped, "threshold-batch-all": triplets, "threshold-pairs": pairs} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := l.Eval(z, ts, grad); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
