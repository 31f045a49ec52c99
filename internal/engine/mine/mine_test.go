package mine

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"tercet/internal/engine/array"
	"tercet/internal/engine/loss"
	"tercet/internal/rng"
)

var pairLabels = []int32{0, 0, 1, 1, 0, 0, 2, 2, 3, 3, 1, 1, 4, 4}

func TestMinersFollowTheirDefinition(t *testing.T) {
	generalLabels := []int32{5, 1, 5, 2, 1, 5, 9, 2, 1}
	for _, name := range lawful {
		for _, spread := range []float64{0.2, 0.8} {
			o := Options{Layout: Pairs, Margin: 0.3}
			checkLaw(t, name, o, newScene(1, pairLabels, 5, spread, true), 3000)
			o.Layout = General
			checkLaw(t, name, o, newScene(2, generalLabels, 5, spread, true), 3000)
			o.Squared = true
			checkLaw(t, name, o, newScene(2, generalLabels, 5, spread, true), 1000)
		}
	}
}

// On the line a = 0, p = 0.8 and negatives at 0.9 and 1.05, of margin 0.3: by
// distance both negatives are semihard, by squared distance (0.64 + 0.3 < 1.05^2)
// the nearer alone.
func TestSquaredBand(t *testing.T) {
	z, err := array.Of([]float32{0, 0.8, 0.9, 5, 1.05, 9}, 6, 1)
	if err != nil {
		t.Fatal(err)
	}
	for squared, want := range map[bool][]int32{false: {2, 4}, true: {2}} {
		m, _ := New("semihard", Options{Layout: Pairs, Margin: 0.3, Squared: squared})
		r := rng.New(1, "mine")
		var out loss.Tuples
		var seen []int32
		for range 100 {
			if _, err := m.Mine(z, []int32{0, 0, 1, 1, 2, 2}, r, &out); err != nil {
				t.Fatal(err)
			}
			seen = append(seen, out.Triplets[0].N)
		}
		slices.Sort(seen)
		if seen = slices.Compact(seen); !slices.Equal(seen, want) {
			t.Errorf("squared %v: negatives %v, want %v", squared, seen, want)
		}
	}
}

func TestDistanceWeightedOptions(t *testing.T) {
	s := newScene(3, pairLabels, 16, 0.4, true)
	checkLaw(t, "distance-weighted", Options{Layout: Pairs}, s, 3000)
	checkLaw(t, "distance-weighted", Options{Layout: Pairs, Cutoff: 0.5}, s, 3000)
	// The cutoff matters in this scene.
	near := 0
	for a := 0; a < len(pairLabels); a += 2 {
		for j, d := range s.d[a] {
			if pairLabels[j] != pairLabels[a] && d < 1.1 {
				near++
			}
		}
	}
	if near == 0 {
		t.Fatal("the scene has no near negatives")
	}
	checkLaw(t, "distance-weighted", Options{Layout: Pairs, Cutoff: 1.1}, s, 3000)
	for _, dim := range []int{1, 2, 3} {
		checkLaw(t, "distance-weighted", Options{Layout: Pairs}, newScene(4, pairLabels, dim, 0.4, dim > 1), 500)
	}
}

// The weights have no overflow at the width of real embeddings, where 1/q itself
// leaves float64: of two negatives at 0.3 and 1.4, the near one has all the mass.
func TestDistanceWeightedAtWidth512(t *testing.T) {
	z := array.New(6, 512)
	z.Row(0)[0], z.Row(1)[0] = 1, 1
	z.Row(2)[1], z.Row(3)[1] = 1, 1
	c := 1 - 0.3*0.3/2
	z.Row(4)[0], z.Row(4)[2] = float32(c), float32(math.Sqrt(1-c*c))
	z.Row(5)[3] = 1
	m, _ := New("distance-weighted", Options{Layout: Pairs})
	var out loss.Tuples
	r := rng.New(1, "mine")
	for range 100 {
		stats, err := m.Mine(z, []int32{0, 0, 1, 1, 2, 2}, r, &out)
		if err != nil || stats.Fallback != 0 || out.Triplets[0].N != 4 {
			t.Fatalf("%v %+v %v", err, stats, out.Triplets)
		}
	}
}

func TestNormalizeInside(t *testing.T) {
	s := newScene(5, pairLabels, 6, 0.5, false)
	for i := range pairLabels {
		for k := range s.z.Row(i) {
			s.z.Row(i)[k] *= float32(i + 1)
		}
	}
	clear(s.z.Row(3)) // a zero row stays zero
	s = sceneOf(s.z, pairLabels, true)
	for _, name := range []string{"random", "semihard", "softhard", "distance-weighted", "hardest"} {
		checkLaw(t, name, Options{Layout: Pairs, Margin: 0.3, Normalize: true}, s, 500)
	}
}

// As published, softhard's positive can be the anchor; strictly it cannot.
func TestSofthardPositiveCanBeTheAnchor(t *testing.T) {
	s := newScene(6, []int32{0, 0, 1, 1, 2, 2}, 8, 0.01, true) // tight classes: no far positive
	for name, want := range map[string]bool{"softhard": true, "softhard-strict": false} {
		m, _ := New(name, Defaults())
		r := rng.New(1, "mine")
		self, n := 0, 0
		var out loss.Tuples
		for range 500 {
			stats, err := m.Mine(s.z, s.labels, r, &out)
			if err != nil || stats.Fallback != 3 {
				t.Fatal(err, stats)
			}
			for _, x := range out.Triplets {
				n++
				if x.A == x.P {
					self++
				}
			}
		}
		if share := float64(self) / float64(n); want && math.Abs(share-0.5) > 0.06 || !want && self > 0 {
			t.Errorf("%s: the anchor is its own positive in %.2f of the triplets", name, share)
		}
	}
}

// All comparisons are strict: at a tie the wanted sets are empty.
func TestTies(t *testing.T) {
	z, err := array.Of([]float32{0, 1, -1, 2, 3, -1}, 6, 1)
	if err != nil {
		t.Fatal(err)
	}
	s := sceneOf(z, []int32{0, 0, 1, 1, 2, 2}, false)
	for _, name := range []string{"semihard", "softhard", "softhard-strict", "hardest"} {
		for _, margin := range []float64{0.5, 1, 2} {
			checkLaw(t, name, Options{Layout: Pairs, Margin: margin}, s, 1000)
		}
	}
}

func TestFallbacksAreCounted(t *testing.T) {
	same := array.New(4, 3) // all identical: no semihard, no softhard, no non-zero distance, no weight
	for i := range same.Data {
		same.Data[i] = 0.5
	}
	labels := []int32{0, 0, 1, 1}
	for name, want := range map[string]int{"random": 0, "semihard": 2, "softhard": 2, "softhard-strict": 2, "distance-weighted": 2, "hardest": 2} {
		s := sceneOf(same, labels, false)
		checkLaw(t, name, Options{Layout: Pairs, Margin: 0.2}, s, 300)
		m, _ := New(name, Options{Layout: Pairs, Margin: 0.2})
		var out loss.Tuples
		stats, err := m.Mine(same, labels, rng.New(1, "mine"), &out)
		if err != nil || stats.Fallback != want || stats.Hard != 2 {
			t.Errorf("%s: %+v, %v; want %d fallbacks", name, stats, err, want)
		}
	}
}

// As published, any row is a negative in a batch of one class.
func TestLawInOneClass(t *testing.T) {
	s := newScene(7, []int32{3, 3, 3, 3, 3, 3}, 4, 0.5, true)
	for _, name := range lawful {
		for _, layout := range []Layout{Pairs, General} {
			checkLaw(t, name, Options{Layout: layout, Margin: 0.2, AnyRow: true}, s, 1000)
		}
	}
}

func TestBatchAll(t *testing.T) {
	for _, labels := range [][]int32{pairLabels, {5, 1, 5, 2, 1, 5, 9}, {0, 0, 1}} {
		s := newScene(8, labels, 4, 0.6, true)
		var want []loss.Triplet
		var stats Stats
		for a := range labels {
			for p := range labels {
				for n := range labels {
					if a == p || labels[a] != labels[p] || labels[a] == labels[n] {
						continue
					}
					want = append(want, loss.Triplet{A: int32(a), P: int32(p), N: int32(n)})
					switch {
					case s.d[a][n] <= s.d[a][p]:
						stats.Hard++
					case s.d[a][n] < s.d[a][p]+0.3:
						stats.Semihard++
					default:
						stats.Easy++
					}
				}
			}
		}
		m, _ := New("batch-all", Options{Layout: General, Margin: 0.3})
		var out loss.Tuples
		got, err := m.Mine(s.z, labels, rng.New(1, "mine"), &out)
		if err != nil || got != stats || !slices.Equal(out.Triplets, want) {
			t.Fatalf("%v: %+v, want %+v (%v); %d triplets, want %d", labels, got, stats, err, len(out.Triplets), len(want))
		}

		// Under a cap: a uniform subset of that size, in the same order.
		const limit, draws = 3, 4000
		m, _ = New("batch-all", Options{Layout: General, Margin: 0.3, Cap: limit})
		r := rng.New(2, "mine")
		count := map[loss.Triplet]int{}
		for range draws {
			if _, err := m.Mine(s.z, labels, r, &out); err != nil {
				t.Fatal(err)
			}
			if len(out.Triplets) != min(limit, len(want)) {
				t.Fatalf("%d triplets under a cap of %d", len(out.Triplets), limit)
			}
			next := 0
			for _, x := range out.Triplets {
				i := slices.Index(want[next:], x)
				if i < 0 {
					t.Fatalf("%v is not in the list, or out of order", x)
				}
				next += i + 1
				count[x]++
			}
		}
		e := float64(draws*min(limit, len(want))) / float64(len(want))
		for _, x := range want {
			if math.Abs(float64(count[x])-e) > 5*math.Sqrt(e)+1 {
				t.Errorf("%v kept %d times of %v expected", x, count[x], e)
			}
		}
	}
}

func TestBatchAllRefusesTooMany(t *testing.T) {
	z := array.New(2000, 1)
	labels := make([]int32, 2000)
	for i := range labels {
		labels[i] = int32(i % 2)
	}
	m, _ := New("batch-all", Defaults())
	var out loss.Tuples
	_, err := m.Mine(z, labels, rng.New(1, "mine"), &out)
	if err == nil || !strings.Contains(err.Error(), "would list 1998000000 triplets of 2000 rows") {
		t.Fatal(err)
	}
	for _, b := range []Miner{m, NewLabels(labels).With(m)} { // the same before a batch is drawn
		if early := b.(Bounded).Bound(map[int32]int{0: 1000, 1: 1000}); early == nil || early.Error() != err.Error() {
			t.Error(early)
		}
	}
	capped, _ := New("batch-all", Options{Layout: General, Cap: 10})
	for _, c := range []struct {
		m     Miner
		count map[int32]int
		fits  bool
	}{
		{m, map[int32]int{0: 400, 1: 400, 2: 0}, true}, {m, map[int32]int{0: 2000}, true}, {capped, map[int32]int{0: 1000, 1: 1000}, true}, {capped, map[int32]int{0: 2000, 1: 2000}, false},
	} {
		if err := c.m.(Bounded).Bound(c.count); (err == nil) != c.fits {
			t.Errorf("%v: %v", c.count, err)
		}
	}
}

func TestNewErrors(t *testing.T) {
	if _, err := New("zebra", Defaults()); err == nil || !strings.Contains(err.Error(), `unknown miner "zebra"; valid: batch-all, `) {
		t.Error(err)
	}
	if _, err := New("softhrad", Defaults()); err == nil || !strings.Contains(err.Error(), `did you mean softhard? valid: batch-all, distance-weighted, `) {
		t.Error(err)
	}
	for _, bad := range []func(o *Options){
		func(o *Options) { o.Layout = "spc2" },
		func(o *Options) { o.Margin = -1 },
		func(o *Options) { o.Margin = math.NaN() },
		func(o *Options) { o.Cutoff = 2 },
		func(o *Options) { o.Cutoff = math.NaN() },
		func(o *Options) { o.Cap = -1 },
	} {
		o := Defaults()
		bad(&o)
		if _, err := New("random", o); err == nil {
			t.Errorf("%+v accepted", o)
		}
	}
}

func BenchmarkMine(b *testing.B) {
	labels := make([]int32, 256)
	for i := range labels {
		labels[i] = int32(i / 2 % 10)
	}
	s := newScene(1, labels, 512, 0.7, true)
	for _, name := range Family.Names() {
		b.Run(name, func(b *testing.B) {
			m, _ := New(name, Defaults())
			r := rng.New(3, "mine")
			var out loss.Tuples
			b.ReportAllocs()
			for b.Loop() {
				if _, err := m.Mine(s.z, s.labels, r, &out); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func TestAllPairs(t *testing.T) {
	labels := []int32{3, 1, 3, 3, 1}
	z := array.New(5, 2)
	var out loss.Tuples
	out.Triplets = append(out.Triplets, loss.Triplet{A: 1})
	for range 2 { // slices are reused
		s, err := AllPairs{}.Mine(z, labels, nil, &out)
		if err != nil || s != (Stats{}) || len(out.Triplets) != 0 || len(out.Pairs) != 10 {
			t.Fatalf("%+v, %v: %+v", s, err, out)
		}
	}
	seen := map[[2]int32]bool{}
	for _, p := range out.Pairs {
		if p.I >= p.J || seen[[2]int32{p.I, p.J}] || p.Similar != (labels[p.I] == labels[p.J]) {
			t.Errorf("%+v", p)
		}
		seen[[2]int32{p.I, p.J}] = true
	}
	if _, err := (AllPairs{}).Mine(z, labels[:1], nil, &out); err == nil {
		t.Error("one label for five rows was accepted")
	}
	z.Row(4)[1] = float32(math.Inf(1))
	if _, err := (AllPairs{}).Mine(z, labels, nil, &out); !errors.Is(err, ErrNonFinite) || !strings.Contains(err.Error(), "row 4, coordinate 1") {
		t.Error(err)
	}
	if _, err := (AllPairs{}).Mine(array.New(2, 2, 1), labels, nil, &out); err == nil {
		t.Error("a batch of images was accepted")
	}
}
