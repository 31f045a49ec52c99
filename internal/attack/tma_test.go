package attack

import (
	"math"
	"testing"

	"tercet/internal/engine/array"
)

func plainCosine(x, y []float32) float64 {
	var xx, yy, xy float64
	for k := range x {
		xx += float64(x[k]) * float64(x[k])
		yy += float64(y[k]) * float64(y[k])
		xy += float64(x[k]) * float64(y[k])
	}
	return xy / math.Sqrt(xx*yy)
}

func TestTMAObjectiveAndScore(t *testing.T) {
	for what, f := range fields(t) {
		for _, v := range variants() {
			m := mustMethod(t, "TMA", f.g, v, MethodOptions{Seed: 4})
			mustAim(t, m, f.batch, 1)
			target := func(i int) []float32 { return f.g.X.Row(int(m.Targets(i)[0])) }
			t.Run(what+" "+string(v), func(t *testing.T) {
				checkObjective(t, m, f.z, func(i int, z []float32) float64 { return 1 - plainCosine(z, target(i)) })
			})
			for i, got := range scoresOf(m, f.z, f.batch.Clean)[0] {
				if want := plainCosine(f.z.Row(i), target(i)); math.Abs(got-want) > 1e-12 {
					t.Errorf("%s %s, query %d: cosine %v, want %v", what, v, i, got, want)
				}
			}
		}
	}
}

// Targets are uniform over the gallery. The two variants draw the same one unless
// it is the query itself, which only the published one keeps.
func TestTMATargets(t *testing.T) {
	const n, draws = 10, 3000
	x := array.New(n, 2)
	for i := range x.Data {
		x.Data[i] = float32(i)
	}
	g := mustGallery(t, x, nil)
	b := &Batch{Items: []int{4}, Clean: x.Slice(4, 5)}
	published, fixed := mustMethod(t, "TMA", g, Published, MethodOptions{Seed: 1}), mustMethod(t, "TMA", g, Fixed, MethodOptions{Seed: 1})
	other := mustMethod(t, "TMA", g, Published, MethodOptions{Seed: 2})
	var count, again [n]int
	same := 0
	for draw := range draws {
		mustAim(t, published, b, draw)
		mustAim(t, fixed, b, draw)
		mustAim(t, other, b, draw)
		p, f := published.Targets(0)[0], fixed.Targets(0)[0]
		if p != 4 && f != p {
			t.Fatalf("draw %d: targets %d and %d", draw, p, f)
		}
		count[p]++
		if p == 4 {
			again[f]++
		}
		if other.Targets(0)[0] == p {
			same++
		}
	}
	for j := range n { // 300 expected, standard deviation 16; redrawn 33, 5.4
		if count[j] < 235 || count[j] > 365 {
			t.Errorf("target %d drawn %d times of 300 expected", j, count[j])
		}
		if j == 4 && again[j] != 0 || j != 4 && (again[j] < 12 || again[j] > 60) {
			t.Errorf("target %d drawn %d times in place of the query", j, again[j])
		}
	}
	if same > 365 {
		t.Errorf("two seeds agree in %d of %d draws", same, draws)
	}
}

// PyTorch divides by lengths of at least 1e-8: an embedding of length 0 has
// cosine 0 and is pulled straight towards its target.
func TestTMAOfZeroLength(t *testing.T) {
	x, _ := array.Of([]float32{0, 0, 3, 4, 0, 0}, 3, 2)
	g := mustGallery(t, x, nil)
	b := &Batch{Items: []int{0}, Clean: x.Slice(0, 1)}
	m := mustMethod(t, "TMA", g, Fixed, MethodOptions{}).(*tma)
	mustAim(t, m, b, 0)
	for target, want := range map[int32][2]float64{1: {-0.6e8, -0.8e8}, 2: {0, 0}} {
		m.targets[0] = target
		per, grad := evalAll(t, m, b.Clean)
		if per[0] != 1 || math.Abs(float64(grad.Data[0])-want[0]) > 10 || math.Abs(float64(grad.Data[1])-want[1]) > 10 {
			t.Errorf("target %d: %v, %v", target, per, grad.Data)
		}
		if got := scoresOf(m, b.Clean, b.Clean)[0][0]; got != 0 {
			t.Errorf("cosine %v", got)
		}
	}
}
