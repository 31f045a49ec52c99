package attack

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
	"tercet/internal/record"
)

// Crafted alone, each variant has the bits that it has when images are shared.
func TestSharingChangesNothing(t *testing.T) {
	for name, change := range map[string]func(m *towardsItem){
		"self drawn":   nil,
		"half differs": func(m *towardsItem) { m.always = true },
		"other kinds":  func(m *towardsItem) { m.kind += string(m.v) },
	} {
		x := newTried()
		x.o.Attacks, x.o.Draws = []string{"CA+"}, 2
		both, err := x.run(fakes(change))
		if err != nil {
			t.Fatal(err)
		}
		ran := both.Attacks[0]
		switch own := ran.Crafted - 48; name {
		case "self drawn":
			if own < 1 || own > 10 || ran.Shared != 48-own {
				t.Errorf("%s: %d images crafted, %d shared", name, ran.Crafted, ran.Shared)
			}
		case "half differs":
			if own < 24 || own > 30 || ran.Shared != 48-own {
				t.Errorf("%s: %d images crafted, %d shared", name, ran.Crafted, ran.Shared)
			}
		case "other kinds":
			if own != 48 || ran.Shared != 0 {
				t.Errorf("%s: %d images crafted, %d shared", name, ran.Crafted, ran.Shared)
			}
		}
		for _, v := range Variants() {
			x.o.Variants = []Variant{v}
			alone, err := x.run(fakes(change))
			if err != nil {
				t.Fatal(err)
			}
			if digest(both, v) != digest(alone, v) {
				t.Errorf("%s: %s differs from itself alone", name, v)
			}
			if a := alone.Attacks[0]; a.Crafted != 48 || a.Shared != 0 || len(alone.Scored) != 1 {
				t.Errorf("%s: alone %+v", name, a)
			}
		}
	}
}

func TestRunDoesNotDependOnBatchesOrThreads(t *testing.T) {
	defer par.SetThreads(0)
	want := ""
	for _, threads := range []int{1, 2} {
		for _, together := range []int{24, 7, 1} {
			par.SetThreads(threads)
			x := newTried()
			x.o.Attacks, x.o.Together, x.o.PGD.Start = []string{"CA+"}, together, adversary.FromRandom
			r, err := x.run(fakes(func(m *towardsItem) { m.always = true }))
			if err != nil {
				t.Fatal(err)
			}
			got := digest(r, Published) + digest(r, Fixed)
			if want == "" {
				want = got
			}
			if got != want {
				t.Fatalf("%d threads, batches of %d: other bits", threads, together)
			}
		}
	}
}

// Scores are means over draws, and a draw is that of a run with it alone.
func TestDraws(t *testing.T) {
	x := newTried()
	x.o.Attacks, x.o.Draws = []string{"CA+"}, 3
	all, err := x.run(fakes(nil))
	if err != nil {
		t.Fatal(err)
	}
	if n := all.Attacks[0].Crafted; n < 3*24 || n > 3*24+10 {
		t.Errorf("%d images", n)
	}
	var sum, clean [24]float64
	for d := range 3 {
		one := newTried()
		one.o.Attacks = []string{"CA+"}
		r, err := one.run(func(name string, g *retrieval.Gallery, v Variant, o MethodOptions) (Method, error) {
			m, err := fakes(nil)(name, g, v, o)
			return shifted{m, d}, err
		})
		if err != nil {
			t.Fatal(err)
		}
		for i := range 24 {
			sum[i] += r.Scored[1].Adversarial[0][i] / 3
			clean[i] += r.Scored[1].Clean[0][i] / 3
		}
	}
	for i := range 24 {
		if all.Scored[1].Adversarial[0][i] != sum[i] || all.Scored[1].Clean[0][i] != clean[i] {
			t.Errorf("query %d: %v and %v, want %v and %v", i, all.Scored[1].Adversarial[0][i], all.Scored[1].Clean[0][i], sum[i], clean[i])
		}
	}
}

// shifted is a method whose draws begin at another one.
type shifted struct {
	Method
	by int
}

func (s shifted) Aim(b *Batch, draw int) error { return s.Method.Aim(b, draw+s.by) }

func TestPublishedMeansAreOfBatches(t *testing.T) {
	x := newTried()
	x.o.Attacks = []string{"CA+"}
	r, err := x.run(fakes(nil))
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range r.Scored {
		values, want := s.Adversarial[0], 0.0
		if s.Variant == Fixed {
			for _, v := range values {
				want += v / 24
			}
		} else {
			for _, b := range [][2]int{{0, 7}, {7, 14}, {14, 21}, {21, 24}} {
				part := 0.0
				for _, v := range values[b[0]:b[1]] {
					part += v
				}
				want += part / float64(b[1]-b[0]) / 4
			}
		}
		if got := s.Mean(values, nil); math.Abs(got-want) > 1e-14 {
			t.Errorf("%s: %v, want %v", s.Variant, got, want)
		}
	}
	if a, b := r.Scored[0].Mean(r.Scored[0].Adversarial[0], nil), r.Scored[1].Mean(r.Scored[0].Adversarial[0], nil); math.Abs(a-b) < 1e-4 {
		t.Error("the batches do not matter: the test shows nothing")
	}
}

// At eps 0 nothing is crafted: the scores are the clean ones.
func TestEpsZero(t *testing.T) {
	x := newTried()
	x.o.Attacks, x.o.PGD.Eps, x.o.Draws = []string{"CA+"}, 0, 2
	x.m.images = 0
	r, err := x.run(fakes(func(m *towardsItem) { m.always = true }))
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range r.Scored {
		if !slices.Equal(s.Adversarial[0], s.Clean[0]) || slices.Max(s.Adversarial[1]) != 0 {
			t.Errorf("%s: %v, clean %v", s.Variant, s.Adversarial, s.Clean)
		}
	}
	if a := r.Attacks[0]; a.Crafted != 0 || a.Cost != (record.Cost{}) || a.ZeroGradient != 0 || a.Radius != (record.Radius{}) {
		t.Errorf("%+v", a)
	}
	if want := (record.Cost{Forward: 24}); r.Cost != want || x.m.images != 24 || x.m.back != 0 {
		t.Errorf("cost %+v, the model saw %d and %d", r.Cost, x.m.images, x.m.back)
	}
	if p := r.PicturesOf("CA+", Published); !slices.Equal(p.Adversarial.Data, x.s.x.Data) || p.Objective != nil || p.Targets[3] == nil {
		t.Errorf("pictures %+v", p)
	}
}

func TestCostIsCounted(t *testing.T) {
	x := newTried()
	x.o.Attacks, x.o.PictureAttacks = []string{"CA+", "QA+"}, []string{"QA+"}
	var progress []int
	x.o.Progress, x.o.Together = func(done, total int) { progress = append(progress, done, total) }, 20
	x.m.images, x.m.back = 0, 0
	r, err := x.run(fakes(nil))
	if err != nil {
		t.Fatal(err)
	}
	crafted := r.Attacks[0].Crafted + r.Attacks[1].Crafted
	if want := (record.Cost{Forward: int64(24 + 7*crafted), Backward: int64(6 * crafted)}); r.Cost != want || int(want.Forward) != x.m.images || int(want.Backward) != x.m.back {
		t.Errorf("cost %+v, want %+v; the model saw %d and %d", r.Cost, want, x.m.images, x.m.back)
	}
	if fmt.Sprint(progress) != "[20 48 24 48 44 48 48 48]" {
		t.Errorf("progress %v", progress)
	}
	if r.PicturesOf("CA+", Fixed) != nil || r.PicturesOf("QA+", Fixed) == nil || len(r.Pictures) != 2 || r.Pictures[0].Clean != r.Pictures[1].Clean {
		t.Errorf("%d pictures", len(r.Pictures))
	}
	if a := r.Attacks[1]; !(a.Radius.MaxLinf > 0.05 && a.Radius.MaxLinf < 0.1+1e-6) || a.Seconds <= 0 {
		t.Errorf("%+v", a)
	}
}

func TestObjectiveOfTheFirstIterate(t *testing.T) {
	x := newTried()
	x.o.Attacks, x.o.Pictures = []string{"CA+"}, 5
	r, err := x.run(fakes(nil))
	if err != nil {
		t.Fatal(err)
	}
	p := r.PicturesOf("CA+", Published)
	if fmt.Sprint(p.Kept) != "[0 4 9 14 19]" {
		t.Errorf("kept %v", p.Kept)
	}
	for k, at := range p.Kept {
		d := distance(x.g.X.Row(r.Queries[at]), x.g.X.Row(int(p.Targets[k][0])), 0)
		if math.Abs(p.Objective[k]-d*d) > 1e-9 {
			t.Errorf("picture %d: objective %v, want %v", k, p.Objective[k], d*d)
		}
		if got := distance(p.Embedding.Row(k), x.g.X.Row(int(p.Targets[k][0])), 0); got != r.Scored[0].Adversarial[0][at] {
			t.Errorf("picture %d: its embedding is %v away, the score %v", k, got, r.Scored[0].Adversarial[0][at])
		}
	}
}

func (x *tried) relabel(label func(i int) int32) {
	labels := make([]int32, x.g.Len())
	for i := range labels {
		labels[i] = label(i)
	}
	x.g, _ = retrieval.NewGallery(x.g.X, labels)
}

func TestRunErrors(t *testing.T) {
	stop, cancel := context.WithCancel(context.Background())
	cancel()
	for _, c := range []struct {
		name   string
		change func(x *tried)
		want   string
	}{
		{"none", func(x *tried) { x.o.Attacks = nil }, "no attack is named"},
		{"unknown", func(x *tried) { x.o.Attacks = []string{"CA*"} }, "no such fake"},
		{"twice", func(x *tried) { x.o.Attacks = []string{"CA+", "QA+", "CA+"} }, "CA+ is named twice"},
		{"variant twice", func(x *tried) { x.o.Variants = []Variant{Fixed, Fixed} }, "variant fixed is named twice"},
		{"pictures", func(x *tried) { x.o.PictureAttacks = []string{"ES"} }, "pictures of ES are requested"},
		{"batch", func(x *tried) { x.o.Batch = -1 }, "batch -1"},
		{"zero steps", func(x *tried) { x.o.PGD.Iterations = 0 }, "iterations is 0"},
		{"eps", func(x *tried) { x.o.PGD.Eps = 8 }, "write 8/255 for 8"},
		{"mode", func(x *tried) { x.o.PGD.Mode = 2 }, "in eval mode"},
		{"candidates", func(x *tried) { x.o.Method.M = 25 }, "w is 0 and m 25, but the gallery has 24 images"},
		{"one class", func(x *tried) { x.relabel(func(int) int32 { return 0 }) }, "all 24 images have the same label"},
		{"singletons", func(x *tried) { x.relabel(func(i int) int32 { return int32(i) }) }, "each of the 24 images is alone in its class"},
		{"read", func(x *tried) { x.s.broken = 21 }, "image 21: torn page"},
		{"gallery shape", func(x *tried) { x.g.X = array.New(24, 4) }, "gallery is [24 4], want [24 3]"},
		{"gallery of another model", func(x *tried) { x.m = newModel(6, 6, 8, 3) }, "gallery row 0 is not the model's embedding of image 0"},
		{"pixels", func(x *tried) {
			x.s.x.Row(9)[0] = 1.5
			x.g.X = galleryOf(x.m, x.s)
		}, "queries 7 to 13 of 24: item 9 of the set: pgd: image 2, element 0 is 1.5"},
	} {
		x := newTried()
		x.o.Attacks, x.o.Together = []string{"CA+"}, 7
		c.change(&x)
		if r, err := x.run(fakes(nil)); err == nil || r != nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
	x := newTried()
	x.o.Attacks, x.o.Together = []string{"CA+"}, 7
	if _, err := x.run(fakes(func(m *towardsItem) { m.nan = 17 })); !errors.Is(err, adversary.ErrNonFinite) || !strings.Contains(err.Error(), "item 17 of the set") {
		t.Errorf("NaN: %v", err)
	}
	if _, err := run(stop, x.m, x.s, x.g, x.o, fakes(nil)); !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "0 of 24 queries") {
		t.Errorf("canceled: %v", err)
	}
}

// A context that ends while a batch is crafted ends it after the step at hand.
func TestRunIsInterrupted(t *testing.T) {
	x := newTried()
	x.o.Attacks, x.o.Together, x.o.PGD.Iterations = []string{"CA+"}, 7, 1000
	ctx, cancel := context.WithCancel(context.Background())
	calls := 0
	_, err := run(ctx, x.m, x.s, x.g, x.o, func(name string, g *retrieval.Gallery, v Variant, o MethodOptions) (Method, error) {
		m, err := fakes(nil)(name, g, v, o)
		return stopping{m, func() {
			if calls++; calls == 1020 {
				cancel()
			}
		}}, err
	})
	if !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "attack CA+ stopped after 7 of 24 queries") || calls > 1030 {
		t.Errorf("%v after %d evaluations", err, calls)
	}
}

// stopping calls a function at each evaluation.
type stopping struct {
	Method
	call func()
}

func (s stopping) Eval(z *array.Array, per []float64, grad *array.Array) error {
	s.call()
	return s.Method.Eval(z, per, grad)
}
