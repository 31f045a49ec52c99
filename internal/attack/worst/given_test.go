package worst

import (
	"context"
	"math"
	"strings"
	"testing"

	"tercet/internal/engine/adversary"
	"tercet/internal/engine/array"
)

// barely are, of the queries that r breaks, the images of the way to the one found that just
// break them.
func barely(x tried, r *Result) *Given {
	s := r.Galleries[0]
	g := &Given{Images: array.New(len(r.Queries), x.s.x.Cols())}
	for p, q := range r.Queries {
		clean, far, low, high := x.s.x.Row(q), s.Images.Row(p), 0.0, 1.0
		if s.By[p] < 2 {
			far = clean
		}
		one := array.New(append([]int{1}, x.s.x.Shape[1:]...)...)
		at := func(t float64) []float32 {
			for k, c := range clean {
				one.Data[k] = float32(float64(c) + t*(float64(far[k])-float64(c)))
			}
			return one.Data
		}
		for range 12 {
			if mid := (low + high) / 2; x.plain(q, at(mid)) {
				low = mid
			} else {
				high = mid
			}
		}
		g.Items = append(g.Items, q)
		copy(g.Images.Row(p), at(high))
	}
	return g
}

// Images of others lower a number or leave it: that of rounded images and the radii, too,
// where theirs break a query by less than ours.
func TestGivenImagesRaiseNothing(t *testing.T) {
	t.Parallel()
	for _, galleries := range [][]string{{Full}, {Full, Prototypes, Trimmed}} {
		x := newTried(3, 60, 3, 3)
		o := Options{Norm: adversary.Linf, Eps: 0.08, Steps: 20, Squares: 40, Galleries: galleries}
		before := x.run(t, o)
		o.Given = barely(x, before)
		after := x.run(t, o)
		for k, a := range before.Galleries {
			b := after.Galleries[k]
			was, is := a.Counts(), b.Counts()
			if is.Right != was.Right || is.Robust > was.Robust || is.Robust8 > was.Robust8 {
				t.Errorf("%s: %+v, before %+v", a.Gallery, is, was)
			}
			for p := range a.Radius {
				if b.Radius[p] > a.Radius[p] || a.By[p] > 0 && b.By[p] != a.By[p] {
					t.Errorf("%s: query %d: radius %v by %d, before %v by %d", a.Gallery, p, b.Radius[p], b.By[p], a.Radius[p], a.By[p])
				}
			}
			last := b.Ran[len(b.Ran)-1]
			if last.Member != given || last.Verified < 4 || last.Broken > last.Verified {
				t.Errorf("%s: %+v", a.Gallery, last)
			}
		}
	}
}

// A given image that breaks a query which nothing else does counts, and is the one kept.
func TestGivenImagesBreakMore(t *testing.T) {
	t.Parallel()
	x := newTried(3, 60, 2, 3)
	o := Options{Norm: adversary.Linf, Eps: 0.08, Steps: 20, Squares: 40}
	o.Given = barely(x, x.run(t, o))
	o.members = only(Clean, given)
	s := x.run(t, o).Galleries[0]
	broken := 0
	for p, q := range o.Given.Items {
		if x.plain(q, o.Given.Images.Row(p)) {
			continue
		}
		if broken++; s.By[p] == 2 && x.plain(q, s.Images.Row(p)) || s.By[p] == 0 {
			t.Errorf("query %d: by %d", q, s.By[p])
		}
	}
	if m := s.Ran[1]; broken < 10 || m.Broken != m.Verified || m.Broken > broken {
		t.Errorf("%d broken, %+v", broken, m)
	}
}

// Images of another shape, or of one image too few, are refused with what is expected.
func TestGivenImagesOfAnotherShape(t *testing.T) {
	t.Parallel()
	x := newTriedOf(3, 12, 2, 3, 2, 4, 3)
	for _, c := range []struct {
		shape []int
		cols  int
		want  string
	}{
		{[]int{3, 2, 4}, 24, "given images have the shape (3, 2, 4), channels first; those of the set are (height, width, channels) = (2, 4, 3)"},
		{[]int{4, 2, 3}, 24, "given images have the shape [4 2 3]; those of the set"},
		{[]int{2, 12}, 24, "given images have the shape [2 12]"},
		{nil, 12, "given images have the shape [12]"},
		{[]int{2, 4, 3}, 24, "pixel 0 is NaN, outside [0, 1]"},
		{[]int{24}, 24, "pixel 0 is NaN, outside [0, 1]"},
	} {
		g := &Given{Items: []int{0}, Images: array.New(1, c.cols), Shape: c.shape}
		g.Images.Data[0] = float32(math.NaN())
		_, err := Run(context.Background(), x.m, x.s, x.g, Options{Norm: adversary.Linf, Eps: 0.1, Given: g, members: only(Clean, given)})
		if want := strings.Replace(c.want, "pixel 0 is NaN, outside [0, 1]", "pixel 0 is NaN, outside [0, 1]", 1); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, want %q", c.shape, err, c.want)
		}
	}
}
