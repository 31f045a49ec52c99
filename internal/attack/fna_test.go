package attack

import (
	"context"
	"math"
	"testing"

	"tercet/internal/attack/retrieval"
	"tercet/internal/attack/retrieval/retrievaltest"
	"tercet/internal/engine/array"
)

// plainFNA finds the label whose mean is furthest from the clean embedding and
// returns the objective as the paper states it, term by term.
func plainFNA(g *retrieval.Gallery, item int, clean []float32) (far int32, objective func(z []float32) float64) {
	most := -1.0
	for _, label := range g.Labels {
		if label == g.Labels[item] {
			continue
		}
		mean, n := make([]float64, g.X.Cols()), 0.0
		for j, l := range g.Labels {
			if l == label {
				n++
				for k, v := range g.X.Row(j) {
					mean[k] += float64(v)
				}
			}
		}
		for k := range mean {
			mean[k] /= n
		}
		if d := distance64(mean, clean); d > most+1e-9 {
			most, far = d, label
		}
	}
	return far, func(z []float32) float64 {
		sum := 0.0
		for j, l := range g.Labels {
			switch square := retrievaltest.Square(z, g.X.Row(j)); {
			case l == far:
				sum += square
			case l == g.Labels[item] && j != item:
				sum -= square
			}
		}
		return sum
	}
}

func TestFNAObjectiveTargetsAndScore(t *testing.T) {
	for what, f := range fields(t) {
		for _, v := range variants() {
			m := mustMethod(t, "FNA", f.g, v, MethodOptions{})
			mustAim(t, m, f.batch, 0)
			per, grad := evalAll(t, m, f.z)
			score := scoresOf(m, f.z, f.z)[0]
			for i, item := range f.batch.Items {
				far, objective := plainFNA(f.g, item, f.batch.Clean.Row(i))
				if got := m.Targets(i); len(got) != 1 || f.g.Labels[got[0]] != far {
					t.Fatalf("%s %s, query %d: targets %v, want one of label %d", what, v, i, got, far)
				}
				if want := objective(f.z.Row(i)); math.Abs(per[i]-want) > 1e-9*(1+math.Abs(want)) {
					t.Errorf("%s %s, query %d: objective %v, want %v", what, v, i, per[i], want)
				}
				wide := wide(f.z.Row(i))
				slope := differences(wide, func(z []float64) float64 { return quadratic(f.g, item, far, z) })
				if off := apart(grad.Row(i), slope); off > 1e-5 {
					t.Errorf("%s %s, query %d: gradient off by %v", what, v, i, off)
				}
				own := item
				if v == Published {
					own = retrievaltest.Extreme(f.g.X, f.batch.Clean.Row(i), 1, func(int) bool { return true })
				}
				top := retrievaltest.Extreme(f.g.X, f.z.Row(i), 1, func(j int) bool { return j != own })
				if right := f.g.Labels[top] == f.g.Labels[item]; right != (score[i] == 1) {
					t.Errorf("%s %s, query %d: score %v", what, v, i, score[i])
				}
			}
		}
	}
}

// quadratic is the objective in float64.
func quadratic(g *retrieval.Gallery, item int, far int32, z []float64) float64 {
	sum := 0.0
	for j, l := range g.Labels {
		d := distance64(z, g.X.Row(j))
		switch {
		case l == far:
			sum += d * d
		case l == g.Labels[item] && j != item:
			sum -= d * d
		}
	}
	return sum
}

// By hand: the query at 0 has another image of its label at 1; label 1 has the mean
// -2, label 2 the mean 1.5. It is pulled to -1 and -3 and pushed from 1.
func TestFNAByHand(t *testing.T) {
	x, _ := array.Of([]float32{0, 1, -1, -3, 1.5}, 5, 1)
	g := mustGallery(t, x, []int32{0, 0, 1, 1, 2})
	m := mustMethod(t, "FNA", g, Fixed, MethodOptions{})
	mustAim(t, m, &Batch{Items: []int{0}, Clean: x.Slice(0, 1)}, 0)
	z, _ := array.Of([]float32{0.5}, 1, 1)
	per, grad := evalAll(t, m, z)
	// 1.5^2 + 3.5^2 - 0.5^2 = 14.25; 2 (1.5 + 3.5 + 0.5) = 11
	if m.Targets(0)[0] != 2 || math.Abs(per[0]-14.25) > 1e-12 || math.Abs(float64(grad.Data[0])-11) > 1e-6 {
		t.Errorf("target %v, objective %v, gradient %v; want 2, 14.25, 11", m.Targets(0), per[0], grad.Data[0])
	}
}

// On a network it costs recall, and both variants share every image.
func TestFNALowersRecall(t *testing.T) {
	m, s, g := network(t, true)
	r, err := Run(context.Background(), m, s, g, Options{Attacks: []string{"FNA"}, PGD: Profile{Name: "tiny", Eps: 0.3, Step: 0.05, Iterations: 8}.PGD()})
	if err != nil {
		t.Fatal(err)
	}
	for _, scored := range r.Scored {
		clean, now := scored.Mean(scored.Clean[0], nil), scored.Mean(scored.Adversarial[0], nil)
		if now > clean/4 {
			t.Errorf("%s: recall %v clean, %v under attack", scored.Variant, clean, now)
		}
	}
	if a := r.Attacks[0]; a.Crafted != 30 || a.Shared != 30 {
		t.Errorf("%d images crafted, %d shared, want 30 of both", a.Crafted, a.Shared)
	}
}
