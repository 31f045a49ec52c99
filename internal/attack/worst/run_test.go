package worst

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"tercet/internal/attack/retrieval"
	"tercet/internal/engine/adversary"
	"tercet/internal/engine/array"
	"tercet/internal/par"
	"tercet/internal/rng"
)

func (t tried) run(tb testing.TB, o Options) *Result {
	tb.Helper()
	r, err := Run(context.Background(), t.m, t.s, t.g, o)
	if err != nil {
		tb.Fatal(err)
	}
	return r
}

// On a linear embedder with one right row a query, the worst case has a closed form: the
// ensemble breaks exactly the queries whose lowest margin is negative, and APGD gets to it.
func TestLinearEmbedderInClosedForm(t *testing.T) {
	t.Parallel()
	x, radii := newTried(3, 60, 2, 3), map[string][]float64{}
	for _, norm := range []string{"linf", "l2"} {
		for q := range 60 {
			radii[norm] = append(radii[norm], x.radius(q, norm))
		}
	}
	for _, norm := range []string{"linf", "l2"} {
		for _, eps := range []float64{0.02, 0.06, 0.15} {
			o := Options{Norm: adversary.Norm(norm), Eps: eps, Steps: 40, Squares: 50}
			if norm == "l2" {
				o.Eps *= 2
			}
			r := x.run(t, o)
			s := r.Galleries[0]
			broken := 0
			for p, q := range r.Queries {
				low := x.lowest(q, norm, o.Eps)
				if math.Abs(low) < 1e-5 {
					continue // within rounding of the decision
				}
				if (s.By[p] > 0) != (low < 0) {
					t.Errorf("%s %v: query %d by %d, lowest margin %v", norm, o.Eps, q, s.By[p], low)
				}
				if s.By[p] > 0 {
					broken++
				}
				if exact := radii[norm][q]; s.Radius[p] < exact-1e-5 || s.By[p] > 0 && s.Radius[p] > o.Eps+1e-6 {
					t.Errorf("%s %v: query %d, radius %v, smallest there is %v", norm, o.Eps, q, s.Radius[p], exact)
				}
				if s.By[p] > 0 == x.plain(q, s.Images.Row(p)) {
					t.Errorf("%s %v: query %d is not what its image gives", norm, o.Eps, q)
				}
			}
			far := 0 // most radii of broken queries are the smallest there are
			for p, q := range r.Queries {
				if s.By[p] > 1 && s.Radius[p] > radii[norm][q]+1e-3 {
					far++
				}
			}
			if float64(far) > 0.1*float64(broken) {
				t.Errorf("%s %v: %d of %d radii are not the smallest", norm, o.Eps, far, broken)
			}
			if eps == 0.06 && (broken < 5 || broken > 55) {
				t.Errorf("%s: %d of 60 queries broken: the test tests little", norm, broken)
			}
		}
	}
}

// only is the ensemble with some members alone.
func only(names ...string) []member {
	return slices.DeleteFunc(ensemble(), func(m member) bool { return !slices.Contains(names, m.name) })
}

// FAB finds the smallest perturbation of a linear embedder.
func TestFABFindsTheRadius(t *testing.T) {
	t.Parallel()
	for _, norm := range []string{"linf", "l2"} {
		x := newTried(3, 60, 2, 3)
		r := x.run(t, Options{Norm: adversary.Norm(norm), Eps: 1e-4, members: only(Clean, "fab-t")})
		s, checked := r.Galleries[0], 0
		for p, q := range r.Queries {
			exact := x.radius(q, norm)
			if s.By[p] > 0 || exact > 0.3 {
				continue // wrong as it is, or with targets that the box cuts off
			}
			if checked++; s.Radius[p] < exact-1e-5 || s.Radius[p] > exact+1e-3 {
				t.Errorf("%s: query %d has the radius %v, found %v", norm, q, exact, s.Radius[p])
			}
		}
		if checked < 20 {
			t.Errorf("%s: %d queries checked", norm, checked)
		}
	}
}

// Square needs no gradient, and finds nearly all that there is to find in few pixels.
func TestSquareOnALinearEmbedder(t *testing.T) {
	t.Parallel()
	x := newTried(3, 60, 2, 3)
	x.m.scale = 0
	o := Options{Norm: adversary.Linf, Eps: 0.06, Squares: 400, members: only(Clean, "square")}
	r := x.run(t, o)
	breakable, broken := 0, 0
	for p, q := range r.Queries {
		if x.lowest(q, "linf", o.Eps) < -1e-5 && r.Galleries[0].By[p] != 1 {
			breakable++
			if r.Galleries[0].By[p] == 2 {
				broken++
			}
		} else if r.Galleries[0].By[p] == 2 {
			t.Errorf("query %d cannot be broken", q)
		}
	}
	if breakable < 10 || float64(broken) < 0.95*float64(breakable) {
		t.Errorf("%d of %d queries broken", broken, breakable)
	}
}

// The sides that the schedule gives on 28 x 28 pixels.
func TestSquareSides(t *testing.T) {
	t.Parallel()
	var got []int
	for _, i := range []int{1, 11, 51, 201, 501, 1001, 2001, 4001, 6001, 8001} {
		got = append(got, squareSide(i, 28, 28))
	}
	if !slices.Equal(got, []int{25, 18, 13, 9, 6, 4, 3, 2, 2, 1}) {
		t.Errorf("sides %v", got)
	}
}

// The step of FAB: on the plane or as near to it as the box allows, and no longer than any
// other there.
func TestOntoThePlane(t *testing.T) {
	t.Parallel()
	r := rng.New(9, "plane")
	for _, norm := range []adversary.Norm{adversary.Linf, adversary.L2} {
		o := Options{Norm: norm}
		for range 200 {
			v, w, d, most := make([]float32, 6), make([]float32, 6), make([]float64, 6), 0.0
			for k := range v {
				v[k], w[k] = float32(r.Float64()), float32(r.NormFloat64())
			}
			gap := r.NormFloat64()
			sign := math.Copysign(1, gap)
			for k, x := range v { // the farthest that the box allows
				if sign*float64(w[k]) > 0 {
					most += math.Abs(float64(w[k])) * float64(x)
				} else {
					most += math.Abs(float64(w[k])) * (1 - float64(x))
				}
			}
			o.onto(v, w, gap, d)
			moved := 0.0
			for k := range d {
				moved -= float64(w[k]) * d[k]
				if x := float64(v[k]) + d[k]; x < -1e-9 || x > 1+1e-9 {
					t.Fatalf("%s: pixel %v", norm, x)
				}
			}
			if want := sign * min(math.Abs(gap), most); math.Abs(moved-want) > 1e-6 {
				t.Fatalf("%s: moved by %v, want %v", norm, moved, want)
			}
			for range 50 { // other points of the plane are not nearer
				x, reached := make([]float64, 6), 0.0
				for k := range x {
					x[k] = min(max(r.Uniform(-1, 1), -float64(v[k])), 1-float64(v[k]))
					reached -= sign * float64(w[k]) * x[k]
				}
				if reached >= math.Abs(gap) && math.Abs(gap) < most && o.length(x) < o.length(d)-1e-6 {
					t.Fatalf("%s: %v is shorter than %v", norm, x, d)
				}
			}
		}
	}
}

// Trimmed galleries and rounding of images lose no query.
func TestTrimmedAgainstLoops(t *testing.T) {
	t.Parallel()
	x := newTried(5, 90, 3, 2)
	r := x.run(t, Options{Norm: adversary.Linf, Galleries: []string{Trimmed}})
	stays := make([]bool, 90)
	rows := 0
	for j := range stays {
		if stays[j] = x.plain(j, x.s.x.Row(j)); stays[j] {
			rows++
		}
	}
	if r.Rows[0] != rows || rows == 90 {
		t.Errorf("%d rows stay, want %d", r.Rows[0], rows)
	}
	for p, q := range r.Queries {
		first, best := -1, math.Inf(1)
		for j := range 90 {
			d := 0.0
			for k, v := range x.g.X.Row(j) {
				d += math.Pow(float64(v)-float64(x.g.X.Row(q)[k]), 2)
			}
			if stays[j] && j != q && d < best {
				first, best = j, d
			}
		}
		right := x.g.Labels[first] == x.g.Labels[q]
		some := false // a right row has to be left
		for j := range 90 {
			some = some || stays[j] && j != q && x.g.Labels[j] == x.g.Labels[q]
		}
		if (r.Galleries[0].By[p] == 0) != (right && some) {
			t.Errorf("query %d: by %d, right %v", q, r.Galleries[0].By[p], right)
		}
	}
}

// Without a radius the ensemble is recall@1.
func TestNoRadiusIsRecall(t *testing.T) {
	t.Parallel()
	x := newTried(5, 90, 3, 2)
	r := x.run(t, Options{Norm: adversary.Linf, Galleries: Galleries()})
	right := 0
	for p, q := range r.Queries {
		if x.plain(q, x.s.x.Row(q)) {
			right++
		} else if r.Galleries[0].By[p] != 1 {
			t.Errorf("query %d is wrong as it is, but by %d", q, r.Galleries[0].By[p])
		}
	}
	if c := r.Galleries[0].Counts(); c.Right != right || c.Robust != right || right == 90 || right == 0 {
		t.Errorf("%+v, %d right", c, right)
	}
	if c := r.Galleries[1].Counts(); c.Robust != c.Right {
		t.Errorf("prototypes: %+v", c)
	}
	if r.Cost.Backward != 0 {
		t.Errorf("%+v", r.Cost)
	}
}

// With all images in the ball a copy of a wrong image breaks every query.
func TestEverythingInTheBallIsBroken(t *testing.T) {
	t.Parallel()
	for norm, eps := range map[adversary.Norm]float64{adversary.Linf: 1, adversary.L2: math.Sqrt(8)} {
		x := newTried(7, 24, 3, 4)
		s := x.run(t, Options{Norm: norm, Eps: eps}).Galleries[0]
		for p, by := range s.By {
			if by != 1 && by != 2 {
				t.Errorf("%s: query %d broken by member %d", norm, p, by)
			}
		}
	}
}

func digest(r *Result) string {
	out := fmt.Sprint(r.Queries, r.Excluded, r.Cost)
	for _, s := range r.Galleries {
		out += fmt.Sprintf(" %v %x %v %x %x", s.By, s.Margin, s.Eight, s.Radius, s.Images.Data)
		for _, m := range s.Ran {
			m.Seconds = 0
			out += fmt.Sprint(m)
		}
	}
	return out
}

// Threads, batches and an end after any member change no bit.
func TestSameBits(t *testing.T) {
	defer par.SetThreads(0)
	x := newTried(9, 40, 4, 3)
	o := Options{Norm: adversary.Linf, Eps: 0.05, Steps: 12, Seed: 3, Squares: 60, Galleries: Galleries()}
	want := digest(x.run(t, o))
	for threads := 1; threads <= 3; threads++ {
		par.SetThreads(threads)
		p := o
		p.Together = []int{0, 7, 1}[threads-1]
		if got := digest(x.run(t, p)); got != want {
			t.Fatalf("%d threads, batches of %d: other bits", threads, p.Together)
		}
	}
	stop := errors.New("stopped")
	for after := 1; after <= 26; after += 3 {
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
		_, err := Run(context.Background(), x.m, x.s, x.g, p)
		if !errors.Is(err, stop) {
			t.Fatalf("after %d members: %v", after, err)
		}
		p = o
		p.Resume = kept
		if got := digest(x.run(t, p)); got != want {
			t.Errorf("resumed after %d members: other bits", after)
		}
	}
	other := o
	other.Seed = 4
	if digest(x.run(t, other)) == want {
		t.Error("another seed changes nothing")
	}
}

// Queries that are broken stay so with more members and with a larger ball, where the images
// found in the smaller one are in the larger.
func TestMoreRadiusBreaksMore(t *testing.T) {
	t.Parallel()
	x := newTried(11, 60, 2, 3)
	last := -1
	for _, eps := range []float64{0.01, 0.03, 0.05, 0.1, 0.3} {
		c := x.run(t, Options{Norm: adversary.Linf, Eps: eps, Steps: 30, Squares: 50}).Galleries[0].Counts()
		if last >= 0 && c.Robust > last {
			t.Errorf("eps %v: %d robust, %d before", eps, c.Robust, last)
		}
		last = c.Robust
	}
}

// A model without gradients is still attacked by the members that need none.
func TestWithoutGradients(t *testing.T) {
	t.Parallel()
	x := newTried(13, 60, 2, 3)
	x.m.scale = 0
	s := x.run(t, Options{Norm: adversary.Linf, Eps: 0.15, Steps: 12, Squares: 50}).Galleries[0]
	blind := 0
	for _, by := range s.By {
		if by == 2 || by == 3 {
			blind++
		}
	}
	if blind == 0 {
		t.Error("no query broken by copies or noise")
	}
}

func TestVerification(t *testing.T) {
	t.Parallel()
	x := newTried(3, 60, 2, 3)
	// a verifier of other weights: what it does not find broken does not count
	other := &linear{w: x.m.w, b: append([]float64(nil), x.m.b...)}
	for k := range other.b {
		other.b[k] += 0.2
	}
	o := Options{Norm: adversary.Linf, Eps: 0.06, Steps: 20, Squares: 50, Verifier: other}
	s := x.run(t, o).Galleries[0]
	claimed, broken := 0, 0
	for _, m := range s.Ran {
		claimed, broken = claimed+m.Claimed, broken+m.Broken
	}
	if claimed <= broken {
		t.Errorf("%d claimed, %d verified", claimed, broken)
	}
	alone := tried{other, x.s, x.g}
	for p, by := range s.By {
		if by > 1 && alone.plain(p, s.Images.Row(p)) {
			t.Errorf("query %d: the verifier does not agree", p)
		}
	}
}

func TestRoundToEightBits(t *testing.T) {
	t.Parallel()
	o := Options{Norm: adversary.Linf, Eps: 2.5 / 255}
	x := []float32{10.4 / 255, 12.5 / 255, 7.5 / 255, 0, 1}
	o.round([]float32{10. / 255, 10. / 255, 10. / 255, 0, 1}, x)
	for k, want := range []float32{10, 12, 8, 0, 255} {
		if x[k] != want/255 {
			t.Errorf("pixel %d is %v levels, want %v", k, 255*x[k], want)
		}
	}
	o.Norm = adversary.L2
	x = []float32{10.9 / 255, 9.1 / 255, 13 / 255.}
	o.round([]float32{10. / 255, 10. / 255, 10. / 255}, x)
	for k, want := range []float32{10, 10, 13} {
		if x[k] != want/255 {
			t.Errorf("l2: pixel %d is %v levels, want %v", k, 255*x[k], want)
		}
	}
}

func TestRefuses(t *testing.T) {
	t.Parallel()
	x := newTried(3, 12, 2, 3)
	one, err := retrieval.NewGallery(x.g.X, make([]int32, 12))
	if err != nil {
		t.Fatal(err)
	}
	alone, err := retrieval.NewGallery(array.New(12, 3), x.g.Labels)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		o    Options
		g    *retrieval.Gallery
		want string
	}{
		{Options{Norm: adversary.Linf, Eps: 2}, x.g, "pixels lie in [0, 1]"},
		{Options{Norm: "l1", Eps: 0.1}, x.g, "unknown norm"},
		{Options{Norm: adversary.Linf, Eps: 0.1, Galleries: []string{"half"}}, x.g, `unknown gallery "half"`},
		{Options{Norm: adversary.Linf, Eps: 0.1, Galleries: []string{Full, Full}}, x.g, "named twice"},
		{Options{Norm: adversary.Linf, Eps: 0.1, Queries: -1}, x.g, "negative"},
		{Options{Norm: adversary.Linf, Eps: 0.1}, one, "have the same label"},
		{Options{Norm: adversary.Linf, Eps: 0.1}, alone, "not the model's embedding"},
	} {
		if _, err := Run(context.Background(), x.m, x.s, c.g, c.o); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %q", c.o, err, c.want)
		}
	}
	ctx, stop := context.WithCancel(context.Background())
	stop()
	if _, err := Run(ctx, x.m, x.s, x.g, Options{Norm: adversary.Linf, Eps: 0.1}); !errors.Is(err, context.Canceled) {
		t.Errorf("stopped: %v", err)
	}
}

// A run whose context ends says in which gallery and at which attack.
func TestStoppedSaysWhere(t *testing.T) {
	t.Parallel()
	x := newTried(3, 12, 2, 3)
	ctx, stop := context.WithCancel(context.Background())
	done := 0
	o := Options{Norm: adversary.Linf, Eps: 1e-6, Steps: 2, Squares: 5, Keep: func([]*State) error {
		if done++; done == 4 { // clean, copy, noise, apgd-m
			stop()
		}
		return nil
	}}
	var s *Stopped
	if _, err := Run(ctx, x.m, x.s, x.g, o); !errors.As(err, &s) || s.Gallery != Full || s.Attack != "md" || !errors.Is(err, context.Canceled) {
		t.Errorf("%v, %+v", err, s)
	}
}
