package adversary

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"tercet/internal/engine/array"
	"tercet/internal/engine/loss"
	"tercet/internal/engine/nn"
	"tercet/internal/record"
	"tercet/internal/rng"
)

// plainShift is minus the sum of |z - clean + eps|; at the first iterate clean is
// moved by nudges, drawn as EST says.
func plainShift(eps float64, clean, nudges [][]float64) plainGoal {
	return func(t int, z [][]float64) (float64, [][]float64) {
		value, grad := 0.0, zeros(len(z), len(z[0]))
		for i := range z {
			from := append([]float64(nil), clean[i]...)
			if t == 0 {
				// z is clean: float64 would lose digits of the nudge.
				z[i] = make([]float64, len(from))
				for k := range from {
					from[k] = nudges[i][k]
				}
			}
			value -= addPlain(-1, z[i], from, eps, grad[i], make([]float64, len(from)))
		}
		return value, grad
	}
}

func plainNudges(in *Batch, dim int, seed, step uint64) [][]float64 {
	out := zeros(in.Images.Rows(), dim)
	for i := range out {
		r := rng.New(seed, "est-nudge", step, in.IDs[i])
		for some := false; !some; {
			for k := range out[i] {
				n := r.IntN(3) - 1
				out[i][k] = 1e-7 * float64(n)
				some = some || n != 0
			}
		}
	}
	return out
}

func estOptions(t *testing.T, v Implementation) ESTOptions {
	t.Helper()
	o, err := ESTDefaults(v)
	if err != nil {
		t.Fatal(err)
	}
	o.PGD = small(o.PGD)
	return o
}

func TestESTAgainstAPlainImplementation(t *testing.T) {
	for _, v := range []Implementation{Paper, Robrank} {
		for _, steps := range []int{1, 2, 6} {
			const pairs, seed, step = 9, 5, 3
			m, in := scene(51, pairs)
			in.Tuples = &loss.Tuples{Triplets: []loss.Triplet{{A: 0, P: 1, N: 2}}} // of no use to EST
			o := estOptions(t, v)
			o.PGD.Iterations = steps
			e, err := NewEST(o)
			if err != nil {
				t.Fatal(err)
			}
			out, cost, err := e.Craft(m, in, seed, step)
			if err != nil {
				t.Fatal(err)
			}
			clean, z := wideRows(in.Images), make([][]float64, 2*pairs)
			for i := range clean {
				z[i], _ = plainNet(m, clean[i])
			}
			alpha := o.PGD.Step
			if steps == 1 {
				alpha = o.PGD.Eps
			}
			goal := plainShift(o.Eps, z, plainNudges(in, 4, seed, step))
			want := plainPGD(m, clean, goal, o.PGD.Eps, alpha, steps)
			matches(t, string(v), out.Images, want)
			if out.Tuples != nil || out.Clean != nil || fmt.Sprint(out.Labels, out.IDs) != fmt.Sprint(in.Labels, in.IDs) {
				t.Errorf("%s: tuples %v, labels %v", v, out.Tuples, out.Labels)
			}
			if e.MinesClean() || e.Name() != "est" {
				t.Errorf("%s mines clean %v", e.Name(), e.MinesClean())
			}
			rows := int64(2 * pairs * steps)
			if cost != (record.Cost{Forward: rows, Backward: rows}) || m.weightsWereAsk || m.mode != nn.Eval {
				t.Errorf("%s: cost %+v, weight gradients %v", v, cost, m.weightsWereAsk)
			}
			c := e.Crafted()
			sameRadius(t, string(v), c.Radius, radiusByHand(wideRows(out.Images), clean))
			if c.Radius.MaxLinf > o.PGD.Eps+1e-7 || c.Steps != steps || c.Wanted != nil || c.ZeroGradient != 0 {
				t.Errorf("%s: %+v", v, c)
			}
			// A loop that mines sets the tuples; the next batch has none.
			out.Tuples = new(loss.Tuples)
			if out, _, err = e.Craft(m, in, seed, step); err != nil || out.Tuples != nil {
				t.Errorf("%s: tuples %v of the step before (%v)", v, out.Tuples, err)
			}
			matches(t, "again", out.Images, want)
		}
	}
}

func TestShiftGoal(t *testing.T) {
	for _, eps := range []float64{0, 1e-6} {
		clean, z := embeddings(1, 7, 5), embeddings(2, 7, 5)
		copy(z.Row(3), clean.Row(3)) // on its clean embedding: no gradient without eps
		g := &shifted{eps: eps, clean: clean, known: true, ids: ids(7)}
		want, grad := plainShift(eps, wideRows(clean), nil)(1, wideRows(z))
		against(t, "shift", g, nil, z, want, grad)
		if math.Abs(g.value-want/7) > 1e-13 {
			t.Errorf("mean %v of %v", g.value, want)
		}
		copy(z.Row(3), embeddings(3, 1, 5).Data)
		_, grad = plainShift(eps, wideRows(clean), nil)(1, wideRows(z))
		dz := against(t, "shift", g, nil, z, value(plainShift(eps, wideRows(clean), nil), z), grad)
		per := make([]float64, 7)
		differences(t, "shift", z, dz, func() float64 {
			if err := g.Eval(z, per, nil); err != nil {
				t.Fatal(err)
			}
			return 7 * g.value
		})
	}
	g := &shifted{clean: array.New(4, 3), ids: ids(4)}
	if err := g.Eval(array.New(3, 3), make([]float64, 3), nil); !errors.Is(err, array.ErrShape) {
		t.Error(err)
	}
}

func value(g plainGoal, z *array.Array) float64 {
	v, _ := g(1, wideRows(z))
	return v
}

// The nudge moves every image, in one dimension too, and follows seed, step and id
// alone.
func TestESTNudge(t *testing.T) {
	m, in := scene(52, 40)
	one := newNet(53, 8, 6, 1, true, 0.7)
	e, err := NewEST(estOptions(t, Paper))
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := e.Craft(one, in, 1, 1); err != nil || e.Crafted().ZeroGradient != 0 {
		t.Errorf("zero gradients %v (%v)", e.Crafted().ZeroGradient, err)
	}
	first := func(seed, step uint64, in *Batch) *array.Array {
		out, _, err := e.Craft(m, in, seed, step)
		if err != nil {
			t.Fatal(err)
		}
		return out.Images.Clone()
	}
	want := first(1, 1, in)
	for _, c := range []struct {
		seed, step uint64
		same       bool
	}{{1, 1, true}, {2, 1, false}, {1, 2, false}} {
		if got := first(c.seed, c.step, in); (fmt.Sprint(got.Data) == fmt.Sprint(want.Data)) != c.same {
			t.Errorf("seed %d step %d: same images %v", c.seed, c.step, !c.same)
		}
	}
	// Half of the batch, in another order.
	half := &Batch{Images: array.New(3, 2, 2, 2), Labels: make([]int32, 3)}
	for i, r := range []int{7, 2, 11} {
		copy(half.Images.Row(i), in.Images.Row(r))
		half.IDs = append(half.IDs, in.IDs[r])
	}
	got := first(1, 1, half)
	for i, r := range []int{7, 2, 11} {
		if fmt.Sprint(got.Row(i)) != fmt.Sprint(want.Row(r)) {
			t.Errorf("image %d depends on the rest of the batch", r)
		}
	}
}

// A random start needs the clean embeddings: one pass, or those that in has.
func TestESTRandomStart(t *testing.T) {
	m, in := scene(54, 6)
	o := estOptions(t, Paper)
	o.PGD.Start = FromRandom
	e, err := NewEST(o)
	if err != nil {
		t.Fatal(err)
	}
	out, cost, err := e.Craft(m, in, 1, 1)
	if err != nil || cost != (record.Cost{Forward: 12 * 7, Backward: 12 * 6}) {
		t.Fatalf("%+v, %v", cost, err)
	}
	want := out.Images.Clone()
	in.Clean = m.Embed(in.Images, nn.Eval).Clone()
	out, cost, err = e.Craft(m, in, 1, 1)
	if err != nil || cost != (record.Cost{Forward: 12 * 6, Backward: 12 * 6}) || fmt.Sprint(out.Images.Data) != fmt.Sprint(want.Data) {
		t.Errorf("%+v, %v", cost, err)
	}
	in.Clean = array.New(11, 4)
	if _, _, err := e.Craft(m, in, 1, 1); !errors.Is(err, array.ErrShape) {
		t.Error(err)
	}
	// Every restart starts again, the clean embeddings stay.
	o.PGD.Start, o.PGD.Restarts, o.PGD.SkipFinal, o.PGD.Keep = FromClean, 3, false, Best
	in.Clean = nil
	if e, err = NewEST(o); err != nil {
		t.Fatal(err)
	}
	if _, _, err = e.Craft(m, in, 1, 1); err != nil {
		t.Fatal(err)
	}
	z := m.Embed(in.Images, nn.Eval).Clone()
	if fmt.Sprint(e.goal.clean.Data) != fmt.Sprint(z.Data) {
		t.Error("restarts change the clean embeddings")
	}
	if e.Crafted().Steps != 18 {
		t.Errorf("%d steps", e.Crafted().Steps)
	}
}

func TestESTErrors(t *testing.T) {
	m, in := scene(55, 4)
	e, err := NewEST(estOptions(t, Paper))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name   string
		change func(b *Batch)
		want   string
	}{
		{"empty", func(b *Batch) { b.Images, b.Labels, b.IDs = array.New(0, 2, 2, 2), nil, nil }, "no images"},
		{"none", func(b *Batch) { b.Images = nil }, "no images"},
		{"labels", func(b *Batch) { b.Labels = b.Labels[:3] }, "3 labels and 8 ids for 8 images"},
		{"ids", func(b *Batch) { b.IDs = nil }, "8 labels and 0 ids for 8 images"},
		{"pixels", func(b *Batch) { b.Images = b.Images.Clone(); b.Images.Row(1)[2] = -1 }, "image 1, element 2 is -1"},
		{"NaN", func(b *Batch) { b.Images = b.Images.Clone(); b.Images.Row(1)[2] = float32(math.NaN()) }, "image 1, element 2 is NaN"},
	} {
		b := *in
		c.change(&b)
		if _, _, err := e.Craft(m, &b, 1, 1); err == nil || !strings.HasPrefix(err.Error(), "est: ") || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
	sick, _ := scene(55, 4)
	sick.poison = true
	if _, _, err := e.Craft(sick, in, 1, 1); !errors.Is(err, ErrNonFinite) {
		t.Error(err)
	}
	sick, _ = scene(55, 4)
	sick.w2[1][1] = math.Inf(1)
	if _, _, err := e.Craft(sick, in, 1, 1); !errors.Is(err, ErrNonFinite) || !strings.Contains(err.Error(), "at step 0") {
		t.Error(err)
	}
	for _, bad := range []func(o *ESTOptions){
		func(o *ESTOptions) { o.PGD.Iterations = 0 },
		func(o *ESTOptions) { o.PGD.Mode = nn.Train },
		func(o *ESTOptions) { o.Eps = -1 },
		func(o *ESTOptions) { o.Eps = math.NaN() },
		func(o *ESTOptions) { o.Tolerance = math.Inf(1) },
	} {
		o := estOptions(t, Paper)
		bad(&o)
		if e, err := NewEST(o); err == nil || e != nil {
			t.Errorf("%+v accepted", o)
		}
	}
	if _, err := ESTDefaults(Robrank2021); err == nil {
		t.Error("unknown implementation accepted")
	}
}
