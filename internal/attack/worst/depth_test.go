package worst

import (
	"context"
	"math"
	"strings"
	"testing"

	"tercet/internal/engine/adversary"
)

// With two nearest rows a query is broken where two linear functions are below 0 at once, of
// which the minimax theorem gives a closed form.
func TestTwoNearestRows(t *testing.T) {
	t.Parallel()
	x := newTried(3, 40, 2, 3)
	o := Options{Norm: adversary.Linf, Eps: 0.03, Steps: 30, Squares: 100, K: 2}
	r := x.run(t, o)
	s := r.Galleries[0]
	one := x.run(t, Options{Norm: adversary.Linf, Eps: 0.03, Steps: 30, Squares: 100}).Galleries[0]
	breakable, broken := 0, 0
	for p, q := range r.Queries {
		low := x.lowestOfTwo(q, "linf", o.Eps)
		if low < -1e-3 {
			breakable++
		}
		if s.By[p] == 0 {
			continue
		}
		broken++
		if low > 1e-5 {
			t.Errorf("query %d is broken by %d, the lowest margin is %v", q, s.By[p], low)
		}
		if s.Margin[p] >= 0 || one.By[p] == 0 {
			t.Errorf("query %d: margin %v, by %d with one nearest row", q, s.Margin[p], one.By[p])
		}
	}
	if breakable < 10 || breakable > 35 || float64(broken) < 0.9*float64(breakable) {
		t.Errorf("%d of %d queries broken", broken, breakable)
	}
	if c := one.Counts(); c.Robust >= s.Counts().Robust {
		t.Errorf("%d survive with two rows, %d with one", s.Counts().Robust, c.Robust)
	}
}

// Clean queries are wrong where the first right row comes after the first k.
func TestCleanRecallAtK(t *testing.T) {
	t.Parallel()
	x := newTried(5, 40, 4, 2)
	for _, k := range []int{1, 2, 4} {
		r := x.run(t, Options{Norm: adversary.Linf, K: k})
		for p, q := range r.Queries {
			best, before := math.Inf(1), 0
			at := func(j int) (square float64) {
				for c, v := range x.g.X.Row(j) {
					d := float64(x.g.X.Row(q)[c]) - float64(v)
					square += d * d
				}
				return square
			}
			for j := range x.g.Len() {
				if j != q && j/4 == q/4 {
					best = min(best, at(j))
				}
			}
			for j := range x.g.Len() {
				if j/4 != q/4 && at(j) < best {
					before++
				}
			}
			if wrong := r.Galleries[0].By[p] > 0; wrong != (before >= k) {
				t.Errorf("k %d, query %d: wrong %t, %d rows before the first right one", k, q, wrong, before)
			}
		}
	}
}

func TestMoreNearestRowsThanWrongOnes(t *testing.T) {
	t.Parallel()
	x := newTried(3, 6, 2, 3) // three classes of two
	for _, c := range []struct {
		gallery string
		k       int
	}{{Full, 5}, {Prototypes, 3}} {
		_, err := Run(context.Background(), x.m, x.s, x.g, Options{Norm: adversary.Linf, K: c.k, Galleries: []string{c.gallery}})
		if err == nil || !strings.Contains(err.Error(), "rows of other labels") {
			t.Errorf("%s, %d: %v", c.gallery, c.k, err)
		}
	}
}
