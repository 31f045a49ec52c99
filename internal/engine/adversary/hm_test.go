package adversary

import (
	"errors"
	"fmt"
	"math"
	"runtime"
	"strings"
	"testing"

	"tercet/internal/engine/adversary/hardness"
	"tercet/internal/engine/array"
	"tercet/internal/engine/loss"
	"tercet/internal/engine/nn"
	"tercet/internal/par"
	"tercet/internal/record"
	"tercet/internal/rng"
)

func budget(o HMOptions) HMOptions {
	o.PGD.Eps, o.PGD.Step, o.PGD.Iterations = 0.1, 0.03, 6
	return o
}

func hmOptions(t *testing.T, v Implementation) HMOptions {
	t.Helper()
	o, err := HMDefaults(v, 0.2)
	if err != nil {
		t.Fatal(err)
	}
	return budget(o)
}

func newHM(t *testing.T, o HMOptions) *HM {
	t.Helper()
	h, err := NewHM(o)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func embeddings(seed uint64, rows, cols int) *array.Array {
	r := rng.New(seed, "embeddings")
	z := array.New(rows, cols)
	for i := range z.Data {
		z.Data[i] = float32(0.4 * r.NormFloat64())
	}
	return z
}

// scene is a batch of class pairs on the net of net_test.go.
func scene(seed uint64, pairs int) (*net, *Batch) {
	m := newNet(seed, 8, 10, 4, true, 0.7)
	b := &Batch{Images: images(seed, 2*pairs, 0, 1), IDs: ids(2 * pairs)}
	for i := range pairs {
		b.Labels = append(b.Labels, int32(i%5), int32(i%5))
		a, p := b.Images.Row(2*i), b.Images.Row(2*i+1)
		for k := range p {
			p[k] = 0.7*a[k] + 0.3*p[k]
		}
	}
	return m, b
}

// Crafting makes the triplets harder, up to their destination and hardly beyond.
func TestHMReachesItsDestination(t *testing.T) {
	m, in := scene(22, 12)
	o := hmOptions(t, Paper)
	o.Destination = hardness.Destination{Name: "constant", Value: -0.1}
	o.PGD.Eps, o.PGD.Step, o.PGD.Iterations = 0.5, 0.004, 100
	out, _, err := newHM(t, o).Craft(m, in, 1, 1)
	if err != nil {
		t.Fatal(err)
	}
	z := m.Embed(out.Images, nn.Eval)
	for i, x := range out.Tuples.Triplets {
		hard := distance(z.Row(int(x.A)), z.Row(int(x.P)), 0) - distance(z.Row(int(x.A)), z.Row(int(x.N)), 0)
		if hard < -0.1-1e-3 {
			t.Errorf("triplet %d has hardness %v after 100 steps", i, hard)
		}
	}
}

func TestHMSourceEqualsDestination(t *testing.T) {
	m, in := scene(23, 6)
	o := hmOptions(t, Robrank)
	o.Source, o.Destination = "semihard", hardness.Destination{Name: "semihard"}
	in.Tuples = &loss.Tuples{Triplets: []loss.Triplet{{A: 0, P: 1, N: 4}, {A: 2, P: 3, N: 4}}}
	out, cost, err := newHM(t, o).Craft(m, in, 1, 1)
	if err != nil || cost != (record.Cost{}) || m.forward != 0 {
		t.Fatalf("%+v, %v, %d passes", cost, err, m.forward)
	}
	for i, r := range []int{0, 2, 1, 3, 4, 4} {
		if fmt.Sprint(out.Images.Row(i)) != fmt.Sprint(in.Images.Row(r)) {
			t.Errorf("row %d is not image %d", i, r)
		}
	}
}

// With given triplets and embeddings no pass is spent on the clean batch.
func TestHMGivenTriplets(t *testing.T) {
	m, in := scene(24, 6)
	z := m.Embed(in.Images, nn.Eval).Clone()
	m.forward = 0
	in.Tuples = &loss.Tuples{Triplets: []loss.Triplet{{A: 0, P: 1, N: 2}, {A: 2, P: 3, N: 5}, {A: 4, P: 5, N: 2}, {A: 6, P: 7, N: 0}, {A: 8, P: 9, N: 1}, {A: 10, P: 11, N: 3}}}
	o := hmOptions(t, Paper)
	o.Source = ""
	if _, cost, err := newHM(t, o).Craft(m, in, 1, 1); err != nil || cost != (record.Cost{Forward: 18 * 6, Backward: 18 * 6}) {
		t.Errorf("%+v, %v", cost, err)
	}
	o.Destination = hardness.Destination{Name: "random"}
	want, cost, err := newHM(t, o).Craft(m, in, 1, 1)
	if err != nil || cost != (record.Cost{Forward: 12 + 18*6, Backward: 18 * 6}) {
		t.Fatalf("%+v, %v", cost, err)
	}
	in.Clean = z
	if got, cost, err := newHM(t, o).Craft(m, in, 1, 1); err != nil || cost != (record.Cost{Forward: 18 * 6, Backward: 18 * 6}) || fmt.Sprint(got.Images.Data) != fmt.Sprint(want.Images.Data) {
		t.Errorf("%+v, %v", cost, err)
	}
	// The destination's anchors are rows 0, 2, 4, ...
	for _, c := range []struct {
		ts   []loss.Triplet
		want string
	}{
		{[]loss.Triplet{{A: 0, P: 1, N: 2}}, "6 triplets for 1 of the source"},
		{[]loss.Triplet{{A: 2, P: 3, N: 5}, {A: 0, P: 1, N: 2}, {A: 4, P: 5, N: 2}, {A: 6, P: 7, N: 0}, {A: 8, P: 9, N: 1}, {A: 10, P: 11, N: 3}}, "triplet 0 has anchor 0, the source's has 2"},
	} {
		in.Tuples = &loss.Tuples{Triplets: c.ts}
		if _, _, err := newHM(t, o).Craft(m, in, 1, 1); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
}

// A gradual destination follows the observed loss, and a restored run continues as
// the one that was not interrupted.
func TestHMFollowsTheLoss(t *testing.T) {
	for _, v := range []Implementation{Paper, Robrank} {
		o := hmOptions(t, v)
		h := newHM(t, o)
		var restored *HM
		m, in := scene(25, 7)
		for step, l := range []float64{0.31, 0.17, 0.125, 0.0625, 1.0 / 3} {
			if step == 3 {
				restored = newHM(t, o)
				if err := restored.Restore(h.State()); err != nil {
					t.Fatal(err)
				}
			}
			previous := []float64{o.First, 0.31, 0.17, 0.125, 0.0625}[step]
			out, _, err := h.Craft(m, in, 1, uint64(step))
			if err != nil {
				t.Fatal(err)
			}
			for _, hd := range h.goal.destination {
				if want := -0.2 * math.Min(previous, 0.2) / 0.2; math.Abs(hd-want) > 1e-15 {
					t.Fatalf("%s step %d: destination %v, want %v", v, step, hd, want)
				}
			}
			if restored != nil {
				got, _, err := restored.Craft(m, in, 1, uint64(step))
				if err != nil || fmt.Sprint(got.Images.Data) != fmt.Sprint(out.Images.Data) {
					t.Fatalf("%s step %d: the restored defense crafts other images (%v)", v, step, err)
				}
				restored.Observe(l)
			}
			if _, _, err := h.Craft(m, in, 1, uint64(step)); err == nil || !strings.Contains(err.Error(), "not observed") {
				t.Errorf("%s: crafted twice without a loss: %v", v, err)
			}
			h.Observe(l)
		}
		h.Observe(math.NaN())
		for _, bad := range []string{string(h.State()), `{"loss": -1}`, `{`, `{"loss": null}`} {
			if err := newHM(t, o).Restore([]byte(bad)); err == nil {
				t.Errorf("state %s accepted", bad)
			}
		}
	}
	published := hmOptions(t, Robrank)
	if p, err := HMDefaults(Robrank, 0.5); err != nil || p.Destination.Gamma != 0.2 || p.Destination.U != 0.2 || p.First != 2 || p.Eps != 1e-6 || p.Tolerance != 1e-7 || published.First != 2 {
		t.Errorf("%+v, %v", p, err)
	}
	if p, err := HMDefaults(Paper, 0.5); err != nil || p.Destination.Gamma != 0.5 || p.Destination.U != 0.5 || p.First != 2.5 || p.Eps != 0 || p.Tolerance != 0 || !p.PGD.FGSM {
		t.Errorf("%+v, %v", p, err)
	}
}

// Copies of one image in one batch start from different points.
func TestHMRandomStart(t *testing.T) {
	m, in := scene(27, 4)
	o := hmOptions(t, Paper)
	o.PGD.Start, o.PGD.Step = FromRandom, 1e-9
	in.Tuples = &loss.Tuples{Triplets: []loss.Triplet{{A: 0, P: 0, N: 2}, {A: 2, P: 3, N: 4}, {A: 4, P: 5, N: 2}, {A: 6, P: 7, N: 2}}}
	h := newHM(t, o)
	out, _, err := h.Craft(m, in, 1, 1)
	if err != nil {
		t.Fatal(err)
	}
	first := fmt.Sprint(out.Images.Data)
	for _, p := range [][2]int{{0, 4}, {8, 10}, {10, 11}} {
		if fmt.Sprint(out.Images.Row(p[0])) == fmt.Sprint(out.Images.Row(p[1])) {
			t.Errorf("rows %v are equal", p)
		}
	}
	for step := uint64(1); step < 3; step++ {
		h.Observe(2)
		out, _, err := h.Craft(m, in, 1, step)
		if same := err == nil && fmt.Sprint(out.Images.Data) == first; same != (step == 1) {
			t.Errorf("step %d: the same images %v (%v)", step, same, err)
		}
	}
}

func TestHMErrors(t *testing.T) {
	m, in := scene(28, 4)
	for _, c := range []struct {
		name   string
		change func(o *HMOptions, b *Batch)
		want   string
	}{
		{"no triplets", func(o *HMOptions, b *Batch) { b.Tuples = &loss.Tuples{} }, "no triplets"},
		{"no source", func(o *HMOptions, b *Batch) { o.Source = "" }, "no source sampler"},
		{"row", func(o *HMOptions, b *Batch) {
			b.Tuples = &loss.Tuples{Triplets: []loss.Triplet{{A: 0, P: 1, N: 8}}}
		}, "triplet 0 (a 0, p 1, n 8): row 8 is outside the batch of 8"},
		{"labels", func(o *HMOptions, b *Batch) { b.Labels = b.Labels[:3] }, "3 labels and 8 ids for 8 images"},
		{"one class", func(o *HMOptions, b *Batch) { b.Labels, o.Mine.AnyRow = make([]int32, 8), false }, "source softhard: mine: batch of one class"},
		{"pixels", func(o *HMOptions, b *Batch) { b.Images = b.Images.Clone(); b.Images.Row(0)[0] = 2 }, "outside [0, 1]"},
	} {
		o, b := hmOptions(t, Paper), *in
		c.change(&o, &b)
		if _, _, err := newHM(t, o).Craft(m, &b, 1, 1); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
	sick, _ := scene(28, 4)
	sick.poison = true
	if _, _, err := newHM(t, hmOptions(t, Paper)).Craft(sick, in, 1, 1); !errors.Is(err, ErrNonFinite) {
		t.Error(err)
	}
	for _, bad := range []func(o *HMOptions){
		func(o *HMOptions) { o.Source = "soft" },
		func(o *HMOptions) { o.Destination.Name = "harder" },
		func(o *HMOptions) { o.Destination.Name = "batch-all" },
		func(o *HMOptions) { o.Destination = hardness.Destination{Name: "constant", Value: 3} },
		func(o *HMOptions) { o.Destination = hardness.Destination{Name: "constant", Value: math.NaN()} },
		func(o *HMOptions) { o.Destination.U = 0 },
		func(o *HMOptions) { o.Destination.Gamma = -1 },
		func(o *HMOptions) { o.Destination = hardness.Destination{Name: "boost", Sampler: "lga", U: 1} },
		func(o *HMOptions) {
			o.Destination = hardness.Destination{Name: "boost", Sampler: "random", U: 1, Xi: math.NaN()}
		},
		func(o *HMOptions) { o.PGD.Iterations = 0 },
		func(o *HMOptions) { o.Eps = -1 },
		func(o *HMOptions) { o.First = math.NaN() },
		func(o *HMOptions) { o.Tolerance = -1 },
		func(o *HMOptions) { o.ICS.Lambda = -1 },
		func(o *HMOptions) { o.ICS.Lambda = math.NaN() },
		func(o *HMOptions) { o.ICS = ICSOptions{Lambda: 1, Margin: -1} },
		func(o *HMOptions) { o.ICS = ICSOptions{Triplet: "a", Lambda: 1} },
		func(o *HMOptions) { o.Mine.Layout = "rows" },
	} {
		o := hmOptions(t, Paper)
		bad(&o)
		if _, err := NewHM(o); err == nil {
			t.Errorf("%+v accepted", o)
		}
	}
	if _, err := HMDefaults(Robrank2021, 0.2); err == nil {
		t.Error("unknown implementation accepted")
	}
	o := hmOptions(t, Paper)
	o.ICS.Lambda = 1
	h := newHM(t, o)
	out, _, err := h.Craft(m, in, 1, 1)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := h.Penalty(out, embeddings(1, 12, 4), array.New(12, 4)); !errors.Is(err, array.ErrShape) {
		t.Error(err)
	}
	if _, err := h.Penalty(out, embeddings(1, 20, 4), array.New(19, 4)); !errors.Is(err, array.ErrShape) {
		t.Error(err)
	}
}

func TestHMSameBitsForAnyThreads(t *testing.T) {
	defer par.SetThreads(0)
	var want string
	for _, threads := range []int{1, 2, 3} {
		par.SetThreads(threads)
		m, in := scene(29, 30)
		o := hmOptions(t, Robrank)
		o.Destination = hardness.Destination{Name: "boost", Sampler: "semihard", Xi: 0.1, U: 0.2}
		h := newHM(t, o)
		out, cost, err := h.Craft(m, in, 1, 1)
		if err != nil {
			t.Fatal(err)
		}
		got := fmt.Sprintf("%x %v %x", out.Images.Data, cost, h.goal.value)
		if want == "" {
			want = got
		}
		if got != want {
			t.Fatalf("%d threads give other bits", threads)
		}
	}
}

func TestHMAllocatesNothing(t *testing.T) {
	m, in := scene(30, 9)
	z := m.Embed(in.Images, nn.Eval).Clone()
	o := hmOptions(t, Paper)
	o.Destination = hardness.Destination{Name: "boost", Sampler: "semihard", Xi: 0.1, U: 0.2}
	o.ICS.Lambda = 0.5
	h := newHM(t, o)
	dz := array.New(45, 4)
	in.Clean = z
	outZ := embeddings(1, 45, 4)
	step := func() {
		out, _, err := h.Craft(m, in, 1, 1)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := h.Penalty(out, outZ, dz); err != nil {
			t.Fatal(err)
		}
		h.Observe(0.1)
	}
	for range 30 {
		step()
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range 50 {
		step()
	}
	runtime.ReadMemStats(&after)
	if a := after.Mallocs - before.Mallocs; a > 20 {
		t.Errorf("%d allocations in 50 steps", a)
	}
}
