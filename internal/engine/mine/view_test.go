package mine

import (
	"fmt"
	"math"
	"testing"

	"tercet/internal/engine/array"
	"tercet/internal/rng"
)

// hardScenes are batches in which float32 products say little: duplicates, classes
// drawn together, a common offset, lengths from tiny to huge.
func hardScenes() map[string]*array.Array {
	r := rng.New(1, "view")
	const rows, dim = 24, 40
	out := map[string]*array.Array{}
	add := func(name string, f func(i, k int) float64) {
		z := array.New(rows, dim)
		for i := range rows {
			for k := range dim {
				z.Row(i)[k] = float32(f(i, k))
			}
		}
		copy(z.Row(5), z.Row(2)) // a negative equal to an anchor
		copy(z.Row(9), z.Row(8)) // a positive equal to its anchor
		out[name] = z
	}
	g := r.NormFloat64
	add("spread", func(i, k int) float64 { return g() / math.Sqrt(dim) })
	add("near", func(i, k int) float64 { return 0.1 + 1e-5*g() })
	add("offset", func(i, k int) float64 { return 1000 + g() })
	add("scales", func(i, k int) float64 { return g() * math.Pow(10, float64(i%5)-2) })
	add("tiny", func(i, k int) float64 { return 1e-25 * g() })
	add("huge", func(i, k int) float64 { return 1e20 * g() })
	add("zero", func(i, k int) float64 { return float64(i%2) * g() })
	return out
}

func hardLabels() []int32 {
	labels := make([]int32, 24)
	for i := range labels {
		labels[i] = int32(i / 2 % 5)
	}
	return labels
}

// Bounds hold, however loose: every distance lies within them.
func TestViewBounds(t *testing.T) {
	labels := hardLabels()
	for name, z := range hardScenes() {
		for _, normalize := range []bool{false, true} {
			for _, layout := range []Layout{Pairs, General} {
				b := &batch{o: Options{Layout: layout, Normalize: normalize}}
				if err := b.load(z, labels); err != nil {
					t.Fatal(err)
				}
				b.survey()
				if b.view.usable == (name == "huge") {
					t.Errorf("%s: usable %v", name, b.view.usable)
				}
				tight := 0
				for i, a := range b.anchors {
					b.look(i)
					for j := range b.rows {
						var s float64
						for k := range z.Row(a) {
							d := float64(b.unit[a]*float64(z.Row(a)[k])) - float64(b.unit[j]*float64(z.Row(j)[k]))
							s += float64(d * d)
						}
						lo, hi := b.view.lo[j], b.view.hi[j]
						if s < lo*(1-1e-14) || s > hi*(1+1e-14) {
							t.Fatalf("%s %s normalize %v: |%d - %d|^2 is %v, bounds %v to %v", name, layout, normalize, a, j, s, lo, hi)
						}
						if hi-lo < 1e-3*s {
							tight++
						}
					}
				}
				if name == "spread" && tight < 250 {
					t.Errorf("%s %s: only %d bounds are tight", name, layout, tight)
				}
			}
		}
	}
}

// What is decided by bounds, and what is measured because they leave it open, comes
// out as if all distances were measured.
func TestBoundsDecideAsDistances(t *testing.T) {
	labels := hardLabels()
	for name, z := range hardScenes() {
		for _, pick := range map[string]pick{"semihard": pickSemihard, "softhard": pickSofthard, "strict": pickSofthardStrict, "hardest": pickHardest} {
			for _, squared := range []bool{false, true} {
				for _, normalize := range []bool{false, true} {
					o := Options{Layout: Pairs, Margin: 0.3, Squared: squared, Normalize: normalize}
					choose := func(loose float64) string {
						b := &batch{o: o}
						if err := b.load(z, labels); err != nil {
							t.Fatal(err)
						}
						b.survey()
						if loose < 0 {
							b.view.usable = false
						} else {
							b.view.loose = max(b.view.loose, loose)
						}
						r := rng.New(3, "mine")
						out := ""
						for range 20 {
							for i, a := range b.anchors {
								b.look(i)
								pos, neg, fell := pick(b, a, a+1, r)
								out += fmt.Sprint(pos, neg, fell, " ")
							}
						}
						return out
					}
					want := choose(-1)
					for _, loose := range []float64{0, 1e-4, 1e-2, 0.5} {
						if choose(loose) != want {
							t.Errorf("%s %+v, bounds of %v: another choice", name, o, loose)
						}
					}
				}
			}
		}
	}
}

// Loose bounds do not bend the law of distance-weighted draws.
func TestDistanceWeightedUnderLooseBounds(t *testing.T) {
	s := newScene(3, pairLabels, 16, 0.4, true)
	for _, cutoff := range []float64{0, 0.9} {
		o := Options{Layout: Pairs, Cutoff: cutoff}
		b := &batch{o: o}
		if err := b.load(s.z, s.labels); err != nil {
			t.Fatal(err)
		}
		b.survey()
		b.view.loose = 0.02
		b.look(2)
		r := rng.New(5, "mine")
		const draws = 20000
		seen := map[int]float64{}
		for range draws {
			_, neg, fell := pickDistanceWeighted(b, 4, 5, r)
			if fell {
				t.Fatal("fallback")
			}
			seen[neg]++
		}
		gap := 0.0 // of a bound above its weight
		for j, measured := range b.weights.measured {
			if !measured {
				gap = max(gap, b.weights.log[j]-b.logWeight(4, j))
			}
		}
		if gap < 0.1 {
			t.Errorf("cutoff %v: the bounds are tight (%v): nothing is rejected", cutoff, gap)
		}
		for key, p := range s.law("distance-weighted", o, 4) {
			e := p * draws
			if got := seen[key[1]]; math.Abs(got-e) > 5*math.Sqrt(e)+2 {
				t.Errorf("cutoff %v: negative %d drawn %v times of %.0f expected", cutoff, key[1], got, e)
			}
		}
	}
}

// Among near points in many dimensions a bound exceeds its weight by e^100 and more:
// the draw must end, and by the law.
func TestDistanceWeightedAmongCrowdedRows(t *testing.T) {
	const dim, draws = 512, 4000
	r := rng.New(6, "crowd")
	z := array.New(len(pairLabels), dim)
	for i := range pairLabels {
		row := z.Row(i)
		norm := 0.0
		for k := range row {
			row[k] = 1 + 0.05*float32(r.NormFloat64())
			norm += float64(row[k]) * float64(row[k])
		}
		for k := range row {
			row[k] /= float32(math.Sqrt(norm))
		}
	}
	s := sceneOf(z, pairLabels, false)
	b := &batch{o: Options{Layout: Pairs}}
	if err := b.load(s.z, s.labels); err != nil {
		t.Fatal(err)
	}
	b.survey()
	b.view.loose = 0.001 // of squared distances of 0.005
	b.look(2)
	seen := map[int]float64{}
	gap := 0.0
	for range draws {
		b.boundWeights(4)
		for j, measured := range b.weights.measured {
			if !measured {
				gap = max(gap, b.weights.log[j]-b.logWeight(4, j))
			}
		}
		_, neg, fell := pickDistanceWeighted(b, 4, 5, r)
		if fell {
			t.Fatal("fallback")
		}
		seen[neg]++
	}
	if gap < 100 {
		t.Errorf("no bound is loose: e^%v", gap)
	}
	// 1/q itself leaves float64 here: relative to the nearest negative's.
	nearest := math.Inf(1)
	for j, l := range pairLabels {
		if l != pairLabels[4] {
			nearest = min(nearest, s.d[4][j])
		}
	}
	weight, sum := map[int]float64{}, 0.0
	for j, l := range pairLabels {
		if l != pairLabels[4] {
			d := s.d[4][j]
			weight[j] = math.Pow(nearest/d, dim-2) * math.Pow((1-nearest*nearest/4)/(1-d*d/4), (dim-3)/2.)
			sum += weight[j]
		}
	}
	for j := range pairLabels {
		e := weight[j] / sum * draws
		if got := seen[j]; math.Abs(got-e) > 5*math.Sqrt(e)+2 {
			t.Errorf("negative %d drawn %v times of %.1f expected", j, got, e)
		}
	}
}

func TestBatchAllCountsUnderLooseBounds(t *testing.T) {
	labels := hardLabels()
	for name, z := range hardScenes() {
		for _, squared := range []bool{false, true} {
			b := &batch{o: Options{Layout: General, Margin: 0.3, Squared: squared}}
			if err := b.load(z, labels); err != nil {
				t.Fatal(err)
			}
			b.survey()
			for _, loose := range []float64{0, 1e-3, 0.2} {
				b.view.loose = max(b.view.loose, loose)
				var got, want Stats
				for i, a := range b.anchors {
					b.look(i)
					for p := range b.rows {
						c := b.borders(a, p)
						for n := range b.rows {
							c.count(b, int32(n), &got)
							want.count(b.gap(a, p), b.gap(a, n), 0.3)
						}
					}
				}
				if got != want {
					t.Errorf("%s squared %v bounds %v: %+v, want %+v", name, squared, loose, got, want)
				}
			}
		}
	}
}
