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
)

func newACT(t *testing.T, v Implementation, p func(*PGD)) *ACT {
	t.Helper()
	o, err := ACTDefaults(v)
	if err != nil {
		t.Fatal(err)
	}
	o.PGD = small(o.PGD)
	if p != nil {
		p(&o.PGD)
	}
	a, err := NewACT(o)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func newMinMax(t *testing.T, v Implementation, anchor bool, p func(*PGD)) *MinMax {
	t.Helper()
	o, err := MinMaxDefaults(v)
	if err != nil {
		t.Fatal(err)
	}
	if !o.Anchor {
		t.Error("the anchor is not perturbed by default")
	}
	o.PGD, o.Anchor = small(o.PGD), anchor
	if p != nil {
		p(&o.PGD)
	}
	m, err := NewMinMax(o)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// layout checks the batch of triplets that a defense made of in.
func layout(t *testing.T, what string, in, out *Batch) {
	t.Helper()
	n := len(in.Tuples.Triplets)
	if out.Images.Rows() != 3*n || len(out.Labels) != 3*n || len(out.IDs) != 3*n || len(out.Tuples.Triplets) != n {
		t.Fatalf("%s: %d images, %d labels, %d ids, %d triplets", what, out.Images.Rows(), len(out.Labels), len(out.IDs), len(out.Tuples.Triplets))
	}
	for i, x := range in.Tuples.Triplets {
		if out.Tuples.Triplets[i] != (loss.Triplet{A: int32(i), P: int32(n + i), N: int32(2*n + i)}) {
			t.Fatalf("%s: triplet %d is %+v", what, i, out.Tuples.Triplets[i])
		}
		for role, r := range [3]int32{x.A, x.P, x.N} {
			if out.Labels[role*n+i] != in.Labels[r] || out.IDs[role*n+i] != in.IDs[r] {
				t.Fatalf("%s: row %d has label %d and id %d", what, role*n+i, out.Labels[role*n+i], out.IDs[role*n+i])
			}
		}
	}
}

func TestACTAgainstAPlainImplementation(t *testing.T) {
	for _, v := range []Implementation{Paper, Robrank} {
		for _, steps := range []int{1, 2, 6} {
			const pairs = 9
			m, in := scene(61, pairs)
			in.Tuples = someTriplets(pairs)
			a := newACT(t, v, func(p *PGD) { p.Iterations = steps })
			out, cost, err := a.Craft(m, in, 5, 3)
			if err != nil {
				t.Fatal(err)
			}
			layout(t, string(v), in, out)
			anchors, p, n := roleRows(in, in.Tuples)
			alpha := 0.03
			if steps == 1 {
				alpha = 0.1
			}
			clean := append(p, n...)
			want := plainPGD(m, clean, plainCollapse(a.o.Eps), 0.1, alpha, steps)
			matches(t, string(v), out.Images, append(append([][]float64(nil), anchors...), want...))
			unchanged(t, string(v), out, in, pairs)
			rows := int64(2 * pairs * steps)
			if cost != (record.Cost{Forward: rows, Backward: rows}) || m.weightsWereAsk || m.mode != nn.Eval || !a.MinesClean() || a.Name() != "act" {
				t.Errorf("%s: cost %+v, weight gradients %v", v, cost, m.weightsWereAsk)
			}
			c := a.Crafted()
			sameRadius(t, string(v), c.Radius, radiusByHand(wideRows(out.Images)[pairs:], clean))
			if c.Radius.MaxLinf > 0.1+1e-7 || c.Steps != steps || c.Wanted != nil {
				t.Errorf("%s: %+v", v, c)
			}
			if l, err := a.Penalty(out, embeddings(1, 27, 4), nil); l != 0 || err != nil {
				t.Errorf("penalty %v (%v)", l, err)
			}
		}
	}
}

// unchanged checks that the anchors of out are their images bit for bit, and that
// the other rows moved; one negative in two triplets moves with each positive.
func unchanged(t *testing.T, what string, out, in *Batch, pairs int) {
	t.Helper()
	for i, x := range in.Tuples.Triplets {
		if fmt.Sprintf("%x", out.Images.Row(i)) != fmt.Sprintf("%x", in.Images.Row(int(x.A))) {
			t.Errorf("%s: anchor %d is perturbed", what, i)
		}
	}
	repeated(t, what, out, in, pairs)
}

func repeated(t *testing.T, what string, out, in *Batch, pairs int) {
	t.Helper()
	ts := in.Tuples.Triplets
	if ts[1].N != ts[2].N {
		t.Fatal("the scene repeats no negative")
	}
	if fmt.Sprint(out.Images.Row(2*pairs+1)) == fmt.Sprint(out.Images.Row(2*pairs+2)) {
		t.Errorf("%s: one image in two triplets is perturbed the same way", what)
	}
	for i := pairs; i < 3*pairs; i++ {
		if x := ts[i%pairs]; i < 2*pairs && x.P == x.A {
			continue // no gradient at its own anchor
		}
		r := ts[i%pairs].P
		if i >= 2*pairs {
			r = ts[i%pairs].N
		}
		if fmt.Sprint(out.Images.Row(i)) == fmt.Sprint(in.Images.Row(int(r))) {
			t.Errorf("%s: row %d is not perturbed", what, i)
		}
	}
}

func TestMinMaxAgainstAPlainImplementation(t *testing.T) {
	for _, v := range []Implementation{Paper, Robrank} {
		for _, anchor := range []bool{true, false} {
			for _, given := range []bool{true, false} {
				for _, steps := range []int{1, 6} {
					const pairs = 9
					what := fmt.Sprintf("%s, anchor %v, embeddings given %v, %d steps", v, anchor, given, steps)
					m, in := scene(62, pairs)
					in.Tuples = someTriplets(pairs)
					if given {
						in.Clean = m.Embed(in.Images, nn.Eval).Clone()
					}
					d := newMinMax(t, v, anchor, func(p *PGD) { p.Iterations = steps })
					out, cost, err := d.Craft(m, in, 5, 3)
					if err != nil {
						t.Fatal(err)
					}
					layout(t, what, in, out)
					a, p, n := roleRows(in, in.Tuples)
					alpha := 0.03
					if steps == 1 {
						alpha = 0.1
					}
					rows := int64(3 * pairs * steps)
					wantCost := record.Cost{Forward: rows, Backward: rows}
					clean, from := append(append(append([][]float64(nil), a...), p...), n...), 0
					want := clean
					if anchor {
						want = plainPGD(m, clean, plainMinMax(d.o.Eps, nil), 0.1, alpha, steps)
						repeated(t, what, out, in, pairs)
						moved := out.Images.Row(4)
						if fmt.Sprint(moved) == fmt.Sprint(in.Images.Row(8)) {
							t.Errorf("%s: an anchor is not perturbed", what)
						}
					} else {
						fixed := make([][]float64, pairs)
						for i := range a {
							fixed[i], _ = plainNet(m, a[i])
							for k := range fixed[i] { // they are kept as float32
								fixed[i][k] = float64(float32(fixed[i][k]))
							}
						}
						want = append(a, plainPGD(m, clean[pairs:], plainMinMax(d.o.Eps, fixed), 0.1, alpha, steps)...)
						unchanged(t, what, out, in, pairs)
						from = pairs
						wantCost = record.Cost{Forward: int64(2 * pairs * steps), Backward: int64(2 * pairs * steps)}
						if !given {
							wantCost.Forward += pairs
						}
					}
					matches(t, what, out.Images, want)
					if cost != wantCost || m.weightsWereAsk || !d.MinesClean() || d.Name() != "minmax" {
						t.Errorf("%s: cost %+v, want %+v", what, cost, wantCost)
					}
					c := d.Crafted()
					sameRadius(t, what, c.Radius, radiusByHand(wideRows(out.Images)[from:], clean[from:]))
					if c.Radius.MaxLinf > 0.1+1e-7 || c.Steps != steps || c.Wanted != nil {
						t.Errorf("%s: %+v", what, c)
					}
				}
			}
		}
	}
}

func TestTripletGoals(t *testing.T) {
	for _, eps := range []float64{0, 1e-6} {
		for _, n := range []int{1, 2, 7, 40} {
			z := embeddings(uint64(n), 3*n, 5)
			fixed := embeddings(99, n, 5)
			pn := &array.Array{Data: z.Data[n*5:], Shape: []int{2 * n, 5}}
			// Finite differences away from identical points, then plain loops at them.
			for _, same := range []bool{false, true} {
				if same {
					copy(z.Row(n), z.Row(0))   // an anchor that is its own positive
					copy(z.Row(2*n), z.Row(n)) // and negative
				}
				c := &collapsing{eps: eps, count: n}
				want, grad := plainCollapse(eps)(0, wideRows(pn))
				dz := against(t, "collapse", c, &c.value, pn, want, grad)
				s := &stretching{eps: eps, count: n}
				want, grad = plainMinMax(eps, nil)(0, wideRows(z))
				ds := against(t, "min-max", s, &s.value, z, want, grad)
				f := &stretching{eps: eps, count: n, anchors: fixed}
				want, grad = plainMinMax(eps, wideRows(fixed))(0, wideRows(pn))
				df := against(t, "min-max, fixed", f, &f.value, pn, want, grad)
				if same || n > 7 {
					continue
				}
				at := func(g Goal, x *array.Array, v *float64) func() float64 {
					per := make([]float64, x.Rows())
					return func() float64 {
						if err := g.Eval(x, per, nil); err != nil {
							t.Fatal(err)
						}
						return *v
					}
				}
				differences(t, "collapse", pn, dz, at(c, pn, &c.value))
				differences(t, "min-max", z, ds, at(s, z, &s.value))
				differences(t, "min-max, fixed", pn, df, at(f, pn, &f.value))
			}
		}
	}
	for _, g := range []Goal{&collapsing{count: 2}, &stretching{count: 2}, &stretching{count: 2, anchors: array.New(2, 3)}} {
		if err := g.Eval(array.New(5, 3), make([]float64, 5), nil); !errors.Is(err, array.ErrShape) {
			t.Errorf("%T: %v", g, err)
		}
	}
}

func TestTripletDefenseErrors(t *testing.T) {
	m, in := scene(63, 4)
	good := &loss.Tuples{Triplets: []loss.Triplet{{A: 0, P: 1, N: 2}}}
	for _, d := range []Defense{newACT(t, Paper, nil), newMinMax(t, Paper, true, nil), newMinMax(t, Paper, false, nil)} {
		for _, c := range []struct {
			name   string
			change func(b *Batch)
			want   string
		}{
			{"no tuples", func(b *Batch) { b.Tuples = nil }, "no triplets; they are mined"},
			{"no triplets", func(b *Batch) { b.Tuples = &loss.Tuples{} }, "no triplets"},
			{"row", func(b *Batch) { b.Tuples = &loss.Tuples{Triplets: []loss.Triplet{{A: 0, P: 1, N: 8}}} }, "triplet 0 (a 0, p 1, n 8): row 8 is outside the batch of 8"},
			{"negative row", func(b *Batch) { b.Tuples = &loss.Tuples{Triplets: []loss.Triplet{{A: 0, P: -1, N: 2}}} }, "row -1 is outside"},
			{"empty", func(b *Batch) { b.Images, b.Labels, b.IDs = array.New(0, 2, 2, 2), nil, nil }, "no images"},
			{"labels", func(b *Batch) { b.Labels = b.Labels[:3] }, "3 labels and 8 ids for 8 images"},
			{"pixels", func(b *Batch) { b.Images = b.Images.Clone(); b.Images.Row(1)[0] = 2 }, "outside [0, 1]"},
			{"embeddings", func(b *Batch) { b.Clean = array.New(7, 4) }, "clean embeddings"},
		} {
			b := *in
			b.Tuples = good
			c.change(&b)
			_, _, err := d.Craft(m, &b, 1, 1)
			if c.name == "embeddings" {
				if x, ok := d.(*MinMax); !ok || x.o.Anchor {
					if err != nil {
						t.Errorf("%s: %v, embeddings are not used", d.Name(), err)
					}
					continue
				}
			}
			if err == nil || !strings.HasPrefix(err.Error(), d.Name()+": ") || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s, %s: %v, want %q", d.Name(), c.name, err, c.want)
			}
		}
		sick, _ := scene(63, 4)
		sick.poison = true
		b := *in
		b.Tuples = good
		if _, _, err := d.Craft(sick, &b, 1, 1); !errors.Is(err, ErrNonFinite) {
			t.Errorf("%s: %v", d.Name(), err)
		}
	}
	p := small(Training())
	for _, bad := range []func() (Defense, error){
		func() (Defense, error) { return NewACT(ACTOptions{PGD: p, Eps: 1}) },
		func() (Defense, error) { return NewACT(ACTOptions{PGD: p, Tolerance: -1}) },
		func() (Defense, error) { return NewACT(ACTOptions{}) },
		func() (Defense, error) { return NewMinMax(MinMaxOptions{PGD: p, Eps: math.NaN()}) },
		func() (Defense, error) { return NewMinMax(MinMaxOptions{}) },
	} {
		if d, err := bad(); err == nil {
			t.Errorf("%+v accepted", d)
		}
	}
	if _, err := ACTDefaults(""); err == nil {
		t.Error("unknown implementation accepted")
	}
	if _, err := MinMaxDefaults(""); err == nil {
		t.Error("unknown implementation accepted")
	}
}

// Copies of one image start from different points, and the steps of one training
// step differ from those of the next.
func TestTripletDefensesRandomStart(t *testing.T) {
	still := func(p *PGD) { p.Start, p.Step = FromRandom, 1e-9 }
	for _, d := range []Defense{newACT(t, Paper, still), newMinMax(t, Paper, true, still), newMinMax(t, Paper, false, still)} {
		m, in := scene(64, 9)
		in.Tuples = someTriplets(9)
		var first string
		for _, step := range []uint64{1, 1, 2} {
			out, _, err := d.Craft(m, in, 1, step)
			if err != nil {
				t.Fatal(err)
			}
			repeated(t, d.Name(), out, in, 9)
			got := fmt.Sprint(out.Images.Data)
			if first == "" {
				first = got
			}
			if (got == first) != (step == 1) {
				t.Errorf("%s step %d: same images %v", d.Name(), step, got == first)
			}
		}
	}
}
