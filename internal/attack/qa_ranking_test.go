package attack

import (
	"math"
	"runtime"
	"strings"
	"testing"

	"tercet/internal/engine/array"
	"tercet/internal/par"
)

// rankingAttacks are those that move items in rankings.
var rankingAttacks = []string{"CA+", "CA-", "QA+", "QA-", "GTT", "SPQA+", "SPQA-"}

func TestRankingAttacksAllocateNothingPerStep(t *testing.T) {
	defer par.SetThreads(par.Threads())
	s := newScene(t, 600, 32, 20)
	for _, threads := range []int{1, 2} {
		par.SetThreads(threads)
		for _, name := range rankingAttacks {
			m := s.method(t, name, Published, MethodOptions{M: 2, W: 2, Xi: Xi{Scale: 10}})
			per, grad := make([]float64, 20), array.New(20, 32)
			step := func() {
				if err := m.Eval(s.z, per, grad); err != nil {
					t.Fatal(err)
				}
			}
			step()
			const calls = 30
			fewest := uint64(math.MaxUint64)
			for range 6 { // a busy machine's pool can lag behind
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				for range calls {
					step()
				}
				runtime.ReadMemStats(&after)
				fewest = min(fewest, after.Mallocs-before.Mallocs)
			}
			if fewest >= calls {
				t.Errorf("%s: %d allocations in %d steps", name, fewest, calls)
			}
		}
	}
}

func TestRankingAttacksRefuse(t *testing.T) {
	large, small := newScene(t, 400, 4, 3), newScene(t, 12, 4, 3)
	for _, c := range []struct {
		s    scene
		name string
		o    MethodOptions
		want string
	}{
		{large, "QA+", MethodOptions{M: 401}, "m is 401, but there are 400 images in the gallery"},
		{large, "CA+", MethodOptions{W: 500}, "w is 500, but there are 400 images in the gallery"},
		{large, "CA-", MethodOptions{W: 401}, "w is 401, but there are 400"},
		{large, "QA-", MethodOptions{M: 5}, "m is 5, but there are 4 candidates, the nearest 1 % of 400 images"},
		{large, "SPQA-", MethodOptions{M: 4}, "m is 4, but there are 3 candidates and one to protect"},
		{newScene(t, 5, 4, 2), "SPQA+", MethodOptions{}, "a gallery of 5 images has 4 others"},
		{small, "QA-", MethodOptions{M: 2}, "m is 2, but there are 1 candidates"},
		{small, "SPQA-", MethodOptions{}, "m is 1, but there are 0 candidates and one"},
		{large, "SPQA+", MethodOptions{Pure: true}, "distance-objective cannot be used with it"},
		{large, "SPQA+", MethodOptions{Xi: Xi{Scale: math.NaN()}}, "scale NaN"},
		{large, "SPQA+", MethodOptions{Xi: Xi{Weight: 1e10}}, "the largest is 1e+09"},
	} {
		if _, err := NewMethod(c.name, c.s.g, Fixed, c.o); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %+v: %v, want %q", c.name, c.o, err, c.want)
		}
	}
	for _, name := range rankingAttacks {
		m := large.method(t, name, Fixed, MethodOptions{})
		if err := m.Eval(array.New(3, 5), make([]float64, 3), nil); err == nil {
			t.Errorf("%s: embeddings of another length are taken", name)
		}
		if err := m.Aim(&Batch{Items: []int{0, 400}, Clean: array.New(2, 4)}, 0); err == nil || !strings.Contains(err.Error(), "item 400") {
			t.Errorf("%s: item 400 of 400: %v", name, err)
		}
		bad := &Batch{Items: []int{0, 1}, Clean: array.New(2, 4)}
		bad.Clean.Data[5] = float32(math.NaN())
		if err := m.Aim(bad, 0); err == nil || !strings.Contains(err.Error(), "item 1 is not finite") {
			t.Errorf("%s: NaN: %v", name, err)
		}
	}
}

// In the smallest galleries the nearest 1 % is one item.
func TestRankingAttacksOnSmallGalleries(t *testing.T) {
	for _, n := range []int{2, 3, 7, 99} {
		s := newScene(t, n, 3, 2)
		for _, name := range []string{"CA+", "CA-", "QA+", "QA-", "GTT"} {
			for _, v := range Variants() {
				for _, near := range []bool{false, true} {
					m := s.method(t, name, v, MethodOptions{Near: near})
					per, grad, out := make([]float64, 2), array.New(2, 3), [][]float64{make([]float64, 2)}
					if err := m.Eval(s.z, per, grad); err != nil {
						t.Fatal(err)
					}
					m.Score(s.z, s.z, out)
					for i := range 2 {
						if !(out[0][i] >= 0 && out[0][i] <= 1) || per[i] < 0 {
							t.Errorf("%s %s, n %d: score %v, objective %v", name, v, n, out[0][i], per[i])
						}
					}
				}
			}
		}
	}
}
