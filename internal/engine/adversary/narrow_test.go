package adversary

import (
	"errors"
	"fmt"
	"math"
	"runtime"
	"testing"

	"tercet/internal/engine/adversary/hardness"
	"tercet/internal/engine/array"
	"tercet/internal/engine/loss"
	"tercet/internal/engine/nn"
	"tercet/internal/record"
	"tercet/internal/rng"
)

// With and without settled triplets the images have the same bits; what is passed
// is three rows for each triplet that the pass before left short of its destination.
func TestNarrowCraftsTheSameImages(t *testing.T) {
	saved, nothing := 0, 0
	for _, variant := range []Implementation{Paper, Robrank} {
		for _, start := range []Start{FromClean, FromRandom} {
			for _, value := range []float64{-9, -1, -0.5, -0.1, 0, 0.3, 2, 9} {
				for _, pairs := range []int{1, 3, 11, 40} {
					o := hmOptions(t, variant)
					o.Destination = hardness.Destination{Name: "constant"}
					o.PGD.Start, o.PGD.Eps, o.PGD.Step, o.PGD.Iterations = start, 0.3, 0.02, 9
					m, in := scene(31, pairs)
					in.Tuples = new(loss.Tuples)
					for i := range int32(pairs) {
						in.Tuples.Triplets = append(in.Tuples.Triplets, loss.Triplet{A: 2 * i, P: 2*i + 1, N: (2*i + 5) % int32(2*pairs)})
					}
					whole := newHM(t, o)
					whole.dest.d.Value = value // the net is not normalized: beyond 2 too
					want, full, err := whole.Craft(m, in, 1, 1)
					if err != nil {
						t.Fatal(err)
					}
					o.Narrow = true
					h := newHM(t, o)
					h.dest.d.Value = value
					for range 2 { // the second time on used buffers
						m.forward = 0
						got, cost, err := h.Craft(m, in, 1, 1)
						if err != nil {
							t.Fatal(err)
						}
						if fmt.Sprintf("%x", got.Images.Data) != fmt.Sprintf("%x", want.Images.Data) {
							t.Fatalf("%s %s destination %v, %d triplets: other images", variant, start, value, pairs)
						}
						if cost.Forward != cost.Backward || cost.Forward > full.Forward || cost.Forward < int64(3*pairs) || m.weightsWereAsk {
							t.Fatalf("%s %s destination %v: cost %+v of %+v", variant, start, value, cost, full)
						}
						if cost.Forward < full.Forward {
							saved++
						} else {
							nothing++
						}
						if value == -9 && (m.forward != 1 || cost.Forward != int64(3*pairs)) {
							t.Errorf("all triplets settled: %d passes", m.forward)
						}
					}
				}
			}
		}
	}
	if saved < 20 || nothing < 20 {
		t.Errorf("%d runs saved passes, %d did not", saved, nothing)
	}
}

// The rows of each pass, against the plain implementation's hardness.
func TestNarrowCost(t *testing.T) {
	const pairs = 32
	o := hmOptions(t, Paper)
	o.Destination = hardness.Destination{Name: "constant", Value: -0.2}
	o.PGD.Eps, o.PGD.Step, o.PGD.Iterations, o.Narrow = 0.3, 0.02, 9, true
	m, in := scene(32, pairs)
	in.Tuples = new(loss.Tuples)
	x := make([][]float64, 3*pairs)
	dest := make([]float64, pairs)
	for i := range pairs {
		in.Tuples.Triplets = append(in.Tuples.Triplets, loss.Triplet{A: int32(2 * i), P: int32(2*i + 1), N: int32((2*i + 9) % (2 * pairs))})
		dest[i] = -0.2
		x[i], x[pairs+i], x[2*pairs+i] = wide(in.Images.Row(2*i)), wide(in.Images.Row(2*i+1)), wide(in.Images.Row((2*i+9)%(2*pairs)))
	}
	want, passed := int64(0), pairs
	for steps := range 9 {
		want += int64(3 * passed)
		at, _ := plainCraft(m, x, dest, 0.3, 0.02, steps, 0, 0)
		short := 0
		for i := range pairs {
			var z [3][]float64
			for role := range 3 {
				z[role], _ = plainNet(m, at[role*pairs+i])
			}
			ap, _ := plainDistance(z[0], z[1], 0)
			an, _ := plainDistance(z[0], z[2], 0)
			if ap-an < -0.2 {
				short++
			}
		}
		if short == 0 {
			break
		}
		if worthwhile(passed, short) {
			passed = short
		}
	}
	_, cost, err := newHM(t, o).Craft(m, in, 1, 1)
	if err != nil || cost != (record.Cost{Forward: want, Backward: want}) || want == 3*9*pairs || want < 6*pairs {
		t.Errorf("cost %+v, want %d both ways of %d (%v)", cost, want, 3*9*pairs, err)
	}
}

// On real networks too: a row's embedding and gradient do not depend on which other
// rows are passed with it.
func TestNarrowOnNetworks(t *testing.T) {
	for _, s := range []nn.Spec{
		{Name: "c2f2", Height: 12, Width: 12, Channels: 1, Normalize: true},
		{Name: "resnet18", Height: 16, Width: 16, Channels: 3, Units: 4, Normalize: true},
	} {
		m, err := nn.Build(s, rng.New(1, "init"))
		if err != nil {
			t.Fatal(err)
		}
		const n = 11
		r := rng.New(2, "images")
		in := &Batch{Images: array.New(3*n, s.Height, s.Width, s.Channels), Labels: make([]int32, 3*n), IDs: make([]uint64, 3*n), Tuples: new(loss.Tuples)}
		for i := range in.Images.Data {
			in.Images.Data[i] = float32(r.Float64())
		}
		for i := range int32(n) {
			in.Tuples.Triplets = append(in.Tuples.Triplets, loss.Triplet{A: i, P: n + i, N: 2*n + i})
		}
		// A destination in the middle of what there is.
		z := m.Embed(in.Images, nn.Eval)
		mean := 0.0
		for i := range n {
			mean += (distance(z.Row(i), z.Row(n+i), 0) - distance(z.Row(i), z.Row(2*n+i), 0)) / n
		}
		o := hmOptions(t, Paper)
		o.Destination = hardness.Destination{Name: "constant", Value: mean}
		o.PGD.Step, o.PGD.Iterations = 0.002, 4
		want, full, err := newHM(t, o).Craft(m, in, 1, 1)
		if err != nil {
			t.Fatal(err)
		}
		o.Narrow = true
		got, cost, err := newHM(t, o).Craft(m, in, 1, 1)
		if err != nil {
			t.Fatal(err)
		}
		if cost.Forward >= full.Forward {
			t.Errorf("%s: nothing was saved: %+v", s.Name, cost)
		}
		differ := 0
		for i, v := range got.Images.Data {
			if v != want.Images.Data[i] {
				differ++
			}
		}
		if differ > 0 {
			t.Errorf("%s: %d of %d pixels differ", s.Name, differ, len(got.Images.Data))
		}
	}
}

func TestNarrowErrorsAndAllocations(t *testing.T) {
	for _, bad := range []func(o *HMOptions){
		func(o *HMOptions) { o.PGD.Mode = nn.BatchStats },
		func(o *HMOptions) { o.PGD.SkipFinal = false },
	} {
		o := hmOptions(t, Paper)
		o.Narrow = true
		bad(&o)
		if _, err := NewHM(o); err == nil {
			t.Errorf("%+v accepted", o)
		}
	}
	o := hmOptions(t, Paper)
	o.Narrow = true
	m, in := scene(33, 20)
	in.Tuples = new(loss.Tuples)
	for i := range int32(20) {
		in.Tuples.Triplets = append(in.Tuples.Triplets, loss.Triplet{A: 2 * i, P: 2*i + 1, N: (2*i + 9) % 40})
	}
	sick, _ := scene(33, 20)
	sick.poison = true
	if _, _, err := newHM(t, o).Craft(sick, in, 1, 1); !errors.Is(err, ErrNonFinite) {
		t.Error(err)
	}
	in.Images.Row(3)[1] = float32(math.NaN())
	if _, _, err := newHM(t, o).Craft(m, in, 1, 1); err == nil {
		t.Error("a NaN pixel is accepted")
	}
	in.Images.Row(3)[1] = 0.5

	spec := nn.Spec{Name: "mlp", Height: 12, Width: 12, Channels: 1, Units: 24, Normalize: true}
	model, err := nn.Build(spec, rng.New(1, "init"))
	if err != nil {
		t.Fatal(err)
	}
	r := rng.New(2, "images")
	in.Images = array.New(40, 12, 12, 1)
	for i := range in.Images.Data {
		in.Images.Data[i] = float32(r.Float64())
	}
	o.Destination = hardness.Destination{Name: "constant", Value: -0.01}
	o.PGD.Step = 0.002
	h := newHM(t, o)
	step := func() {
		if _, _, err := h.Craft(model, in, 1, 1); err != nil {
			t.Fatal(err)
		}
	}
	for range 10 {
		step()
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range 20 {
		step()
	}
	runtime.ReadMemStats(&after)
	if a := after.Mallocs - before.Mallocs; a > 40 { // in hundreds of parallel loops
		t.Errorf("%d allocations in 20 steps", a)
	}
}
