package worst

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sort"
	"testing"

	"tercet/internal/engine/adversary"
	"tercet/internal/engine/array"
	"tercet/internal/par"
	"tercet/internal/rng"
)

// What the standard version breaks, plus breaks, too, in every gallery; and it breaks nothing
// that cannot be broken.
func TestPlusBreaksWhatStandardDoes(t *testing.T) {
	t.Parallel()
	for _, norm := range []string{"linf", "l2"} {
		x := newTried(3, 60, 2, 3)
		o := Options{Norm: adversary.Norm(norm), Eps: 0.05, Steps: 2, Squares: 20, Galleries: Galleries()}
		if norm == "l2" {
			o.Eps *= 2
		}
		few := only(Clean, transfer, "noise", "apgd-r", "shift", "square-rank", "rays", Radius)
		o.members = few
		standard := x.run(t, o)
		o.Version = Plus
		plus := x.run(t, o)
		more := 0
		for k, s := range standard.Galleries {
			p := plus.Galleries[k]
			for q, by := range s.By {
				switch {
				case by > 0 && by != p.By[q]:
					t.Errorf("%s, %s: query %d is broken by %d, in plus by %d", norm, s.Gallery, q, by, p.By[q])
				case by == 0 && p.By[q] > 0:
					more++
				}
				if k == 0 && p.By[q] > 0 && x.lowest(plus.Queries[q], norm, o.Eps) > 1e-5 {
					t.Errorf("%s: query %d cannot be broken", norm, q)
				}
			}
			if p.Counts().Robust > s.Counts().Robust {
				t.Errorf("%s, %s: %d survive plus, %d standard", norm, s.Gallery, p.Counts().Robust, s.Counts().Robust)
			}
		}
		if more == 0 {
			t.Errorf("%s: plus breaks nothing more: the test tests little", norm)
		}
	}
}

// Each attack alone breaks no query that cannot be broken, and most of those that can; the
// shift goes for distance alone.
func TestMembersOfPlusAlone(t *testing.T) {
	t.Parallel()
	for name, least := range map[string]float64{"apgd-r": 0.95, "apgd-c": 0.95, "md": 0.95, "square-rank": 0.9, "rays": 0.9, "shift": 0.2} {
		x := newTried(3, 60, 2, 3)
		o := Options{Version: Plus, Norm: adversary.Linf, Eps: 0.06, Steps: 30, Squares: 500, members: only(Clean, name)}
		r := x.run(t, o)
		breakable, broken := 0, 0
		for p, q := range r.Queries {
			by := r.Galleries[0].By[p]
			low := x.lowest(q, "linf", o.Eps)
			if by == 2 && low > 1e-5 {
				t.Errorf("%s: query %d cannot be broken", name, q)
			}
			if by != 1 && low < -1e-5 {
				breakable++
				broken += by / 2
			}
		}
		if breakable < 10 || float64(broken) < least*float64(breakable) {
			t.Errorf("%s: %d of %d queries broken", name, broken, breakable)
		}
	}
}

// Gradients are those of the losses, by difference quotients in float64.
func TestGradientsOfLosses(t *testing.T) {
	t.Parallel()
	x := newTried(5, 60, 3, 4)
	near := rng.New(2, "near")
	z := x.g.X.Slice(0, 20).Clone()
	for k := range z.Data {
		z.Data[k] += float32(0.3 * near.NormFloat64())
	}
	f, items := newWhole(x.g, 1), make([]int, 20)
	for i := range items {
		items[i] = i
	}
	f.aim(items)
	f.find(z, softRows)
	labels, rows, tau := make([]int32, 20), make([]int32, 20), make([]float64, 20)
	for i := range labels {
		n := f.wrong(i)[i%5]
		labels[i], rows[i], tau[i] = x.g.Labels[n.Row], n.Row, 0.5
	}
	for name, l := range map[string]loss{
		"margin": marginLoss{}, "ratio": ratioLoss{}, "class": &classLoss{labels}, "item": &itemLoss{rows}, "pull": partLoss{}, "push": partLoss{push: true},
		"shift": shiftLoss{x.g.X.Slice(0, 20).Clone()}, "soft": &softLoss{tau},
	} {
		value := func(z *array.Array, i int) float64 {
			f.find(z, l.searched())
			return l.at(f, i, z.Row(i), make([]float32, z.Cols()))
		}
		wrong, grad := 0, make([]float32, z.Cols())
		for i := range items {
			f.find(z, l.searched())
			l.at(f, i, z.Row(i), grad)
			if name == "soft" { // without the part along z, which both sides have
				continue
			}
			for k := range grad {
				const h = 1.0 / 512
				up, down := z.Clone(), z.Clone()
				up.Row(i)[k] += h
				down.Row(i)[k] -= h
				quotient := (value(up, i) - value(down, i)) / float64(up.Row(i)[k]-down.Row(i)[k])
				if math.Abs(quotient-float64(grad[k])) > 0.02*(1+math.Abs(quotient)) {
					wrong++ // another row is the nearest on the way
				}
			}
		}
		if wrong > 4 {
			t.Errorf("%s: %d of 80 derivatives are not those of the loss", name, wrong)
		}
	}
}

// The ratio does not change with the scale of embeddings, and is negative for broken queries.
func TestRatioByHand(t *testing.T) {
	t.Parallel()
	// One dimension: right row at distance 2, labels at 3 and 7.
	g := tryGallery(t, []float32{0, 2, -3, -3.5, 7, 7}, []int32{0, 0, 1, 1, 2, 2})
	for _, k := range []float32{0, 0.5, 3} {
		f := newWhole(g, 1)
		f.aim([]int{0})
		z := &array.Array{Data: []float32{-k}, Shape: []int{1, 1}}
		f.find(z, softRows)
		right, first, third := 2+float64(k), 3-float64(k), 7+float64(k)
		want := (first - right) / (third - min(first, right))
		if got := (ratioLoss{}).at(f, 0, z.Row(0), nil); math.Abs(got-want) > 1e-9 {
			t.Errorf("at %v: %v, want %v", -k, got, want)
		}
	}
}

// Scores of ranks are those of a sorted list.
func TestRankScoresAgainstSorting(t *testing.T) {
	t.Parallel()
	for _, size := range []int{2, 40, 150} {
		x := newTried(5, 4*size, size, 2)
		for _, f := range []field{newWhole(x.g, 1), newPrototypes(x.g, 1)} {
			z := x.g.X.Slice(0, 20%(2*size)).Clone()
			items := make([]int, z.Rows())
			for i := range items {
				items[i] = i
			}
			f.aim(items)
			got := rankScores(f, z, nil)
			for i := range items {
				type row struct {
					square float64
					at     int
					wrong  bool
				}
				var list []row
				for j := range f.rows() {
					if _, is := f.(*whole); is && j == i {
						continue
					}
					label := f.label(int32(j))
					list = append(list, row{squared(z.Row(i), f.vector(i, int32(j))), j, label != x.g.Labels[i]})
				}
				sort.Slice(list, func(a, b int) bool {
					return list[a].square < list[b].square || list[a].square == list[b].square && list[a].at < list[b].at
				})
				want, first := 0.0, 0
				for place, r := range list {
					if r.wrong {
						if first == 0 {
							first = place + 1
						}
						if place < 100 {
							want -= 1 / math.Log2(float64(place)+2)
						}
					}
				}
				if want += 1e-3 * float64(first); math.Abs(got[i]-want) > 1e-9 {
					t.Fatalf("classes of %d, %T: query %d has %v, want %v", size, f, i, got[i], want)
				}
			}
		}
	}
}

// The blocks of RayS: all pixels, halves, quarters, single ones, and all again.
func TestRayBlocks(t *testing.T) {
	t.Parallel()
	y := ray{down: make([]bool, 6), far: math.Inf(1), size: 6}
	var got []string
	for range 13 {
		y.learn(false, 1e-9)
		got = append(got, fmt.Sprint(y.from, y.to))
	}
	want := []string{"0 6", "0 3", "3 6", "0 2", "2 4", "4 6", "0 1", "1 2", "2 3", "3 4", "4 5", "5 6", "0 6"}
	if !slices.Equal(got, want) {
		t.Errorf("%v", got)
	}
}

// RayS finds the distance along the best of all directions, of which there are few in few
// pixels.
func TestRayAgainstAllDirections(t *testing.T) {
	t.Parallel()
	x := newTriedOf(3, 30, 2, 3, 1, 2, 2)
	near, tried := 0, 0
	for q := 0; q < 30; q += 2 {
		exact := math.Inf(1)
		for mask := range 16 {
			at := func(far float64) bool {
				img := slices.Clone(x.s.x.Row(q))
				for k := range img {
					d := far
					if mask>>k&1 == 1 {
						d = -far
					}
					img[k] = float32(min(max(float64(img[k])+d, 0), 1))
				}
				return !x.plain(q, img)
			}
			if !at(1) {
				continue
			}
			low, high := 0.0, 1.0
			for range 20 {
				if mid := (low + high) / 2; at(mid) {
					high = mid
				} else {
					low = mid
				}
			}
			exact = min(exact, high)
		}
		if math.IsInf(exact, 1) {
			continue
		}
		tried++
		o := Options{Version: Plus, Norm: adversary.Linf, Eps: min(1, exact*1.05+1e-3), Squares: 200, members: only(Clean, "rays")}
		if by := x.run(t, o).Galleries[0].By[q]; by > 0 {
			near++
		}
	}
	if tried < 10 || near < tried-2 {
		t.Errorf("%d of %d distances found within 5 %%", near, tried)
	}
}

// Threads, batches and an end after any member change no bit of plus.
func TestSameBitsOfPlus(t *testing.T) {
	defer par.SetThreads(0)
	x := newTried(9, 24, 4, 3)
	o := Options{Version: Plus, Norm: adversary.Linf, Eps: 0.03, Steps: 6, Seed: 3, Squares: 30, Galleries: []string{Full, Prototypes}}
	want := digest(x.run(t, o))
	for threads := 1; threads <= 2; threads++ {
		par.SetThreads(threads)
		p := o
		p.Together = []int{0, 7}[threads-1]
		if digest(x.run(t, p)) != want {
			t.Fatalf("%d threads, batches of %d: other bits", threads, p.Together)
		}
	}
	stop := errors.New("stopped")
	for _, after := range []int{1, 8, 9, 16, 17, 18, 22, 29} {
		p, n := o, 0
		var kept []*State
		p.Keep = func(all []*State) error {
			kept = nil
			for _, s := range all {
				kept = append(kept, s.clone())
			}
			if n++; n == after {
				return stop
			}
			return nil
		}
		if _, err := Run(context.Background(), x.m, x.s, x.g, p); !errors.Is(err, stop) {
			t.Fatalf("after %d members: %v", after, err)
		}
		p = o
		p.Resume = kept
		if digest(x.run(t, p)) != want {
			t.Errorf("resumed after %d members: other bits", after)
		}
	}
}

func (s *State) clone() *State {
	c := *s
	c.By, c.Margin, c.Eight, c.Radius = slices.Clone(s.By), slices.Clone(s.Margin), slices.Clone(s.Eight), slices.Clone(s.Radius)
	c.Images, c.Ran = s.Images.Clone(), slices.Clone(s.Ran)
	return &c
}

// With two labels there is no ratio, and with two nearest rows plus breaks nothing that the
// minimax theorem forbids.
func TestPlusOfFewLabelsAndTwoRows(t *testing.T) {
	t.Parallel()
	two := newTried(3, 12, 6, 2)
	o := Options{Version: Plus, Norm: adversary.Linf, Eps: 0.05, Steps: 4, Squares: 20, Galleries: Galleries()}
	for _, s := range two.run(t, o).Galleries {
		if c := s.Counts(); c.Queries != 12 || c.Robust > c.Right {
			t.Errorf("%s: %+v", s.Gallery, c)
		}
	}
	x := newTried(3, 40, 2, 3)
	o = Options{Version: Plus, Norm: adversary.Linf, Eps: 0.03, Steps: 10, Squares: 50, K: 2, members: only(Clean, "apgd-r", "apgd-c", "md", "square-rank", "rays")}
	r, broken := x.run(t, o), 0
	for p, q := range r.Queries {
		if r.Galleries[0].By[p] < 2 {
			continue
		}
		if broken++; x.lowestOfTwo(q, "linf", o.Eps) > 1e-5 {
			t.Errorf("query %d cannot be broken", q)
		}
	}
	if broken < 5 {
		t.Errorf("%d queries broken: the test tests little", broken)
	}
}
