package nn

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"tercet/internal/engine/array"
	"tercet/internal/par"
	"tercet/internal/rng"
)

// inParts makes the chains of l take one row for each thread at a time, or all rows, and
// returns their number.
func inParts(l Layer, parts bool) int {
	n := 0
	if s, ok := l.(*Sequential); ok {
		for _, c := range slices.Concat(s.chains[0], s.chains[1]) {
			if c.atOnce, c.least = 1, 0; !parts {
				c.least = math.MaxInt
			}
			n++
		}
	}
	if c, ok := l.(container); ok {
		for _, inner := range c.Layers() {
			n += inParts(inner, parts)
		}
	}
	return n
}

// A few rows at a time give the bits of all rows at once, whatever a pass is asked for.
func TestChainsKeepBits(t *testing.T) {
	defer par.SetThreads(0)
	active := func() *Sequential { // a ReLU that nobody does or masks, first and between
		return NewSequential("active", NewReLU("relu1"), NewPad2D("pad", 9, 9), NewReLU("relu2"), NewConv2D("conv1", 8, 3, 1, 1, true),
			NewMaxPool("pool", 2, 2, 0), NewReLU("relu3"), NewConv2D("conv2", 4, 5, 1, 2, false), NewFlatten("flatten"))
	}
	pooled := func() *Sequential { // a batch norm that pools in every mode
		return NewSequential("pooled", NewBatchNorm2D("bn1"), NewReLU("relu1"), NewMaxPool("pool1", 2, 2, 0),
			NewConv2D("conv1", 4, 3, 1, 1, true), NewReLU("relu2"), NewConv2D("conv2", 4, 3, 1, 1, true), NewFlatten("flatten"))
	}
	models := map[string]func() Layer{"every": func() Layer { return everyLayer() }, "active": func() Layer { return active() }, "pooled": func() Layer { return pooled() }}
	for _, name := range []string{"c2f2", "lenet", "cnn", "small"} {
		models[name] = func() Layer {
			return build(t, Spec{Name: name, Height: 20, Width: 20, Channels: 3, Embedding: 6}).net
		}
	}
	for name, model := range models {
		in := []int{20, 20, 3}
		alone := name == "every" || name == "active" || name == "pooled"
		if alone {
			in = []int{9, 8, 3}
		}
		for _, mode := range []Mode{Eval, Frozen, Train} {
			for _, need := range []Need{Input, Weights, Weights | Input} {
				if mode == Eval && need != Input && name != "active" && name != "c2f2" && name != "lenet" && name != "small" {
					continue // batch norm refuses
				}
				t.Run(fmt.Sprint(name, mode, need), func(t *testing.T) {
					var want [3][]float32
					for k, threads := range []int{0, 1, 2} {
						par.SetThreads(threads)
						l := model()
						if alone {
							built(t, l, in...)
						}
						if inParts(l, k > 0) == 0 {
							t.Fatal("no chain")
						}
						var got [3][]float32
						for _, n := range []int{5, 2} {
							x := images(n, in, rng.New(uint64(n), "x").NormFloat64)
							y := l.Forward(x, mode)
							got[0] = append(got[0], y.Data...)
							if dx := l.Backward(y.Clone(), need); dx != nil {
								if dx.Rows() != n {
									t.Fatalf("gradient %v of %d images", dx.Shape, n)
								}
								got[1] = append(got[1], dx.Data...)
							}
						}
						got[2] = grads(l)
						if k == 0 {
							want = got
							continue
						}
						for i, what := range []string{"output", "input gradient", "weight gradients"} {
							if !sameBits(got[i], want[i]) {
								t.Errorf("%d threads: another %s", threads, what)
							}
						}
					}
				})
			}
		}
	}
}

// What a chain borrows it gives back, but for the gradient that it returns.
func TestChainsGiveBack(t *testing.T) {
	t.Parallel()
	m := build(t, Spec{Name: "c2f2", Height: 12, Width: 12, Channels: 1, Embedding: 6})
	inParts(m.net, true)
	x := images(70, m.in, rng.New(1, "x").NormFloat64)
	for _, need := range []Need{Input, Weights, Weights | Input, Input} {
		z := m.Embed(x, Train).Clone()
		if m.Backward(z, need); len(m.grads.lent) > 1 || need&Input == 0 && len(m.grads.lent) > 0 {
			t.Errorf("need %d: %d buffers are still lent", need, len(m.grads.lent))
		}
	}
	if n := len(m.grads.free); n > 6 {
		t.Errorf("%d buffers", n)
	}
}

// Frozen batch norm refuses nothing, and no rows are no error.
func TestChainsAllow(t *testing.T) {
	t.Parallel()
	var want []float32
	for _, parts := range []bool{false, true} {
		m := build(t, Spec{Name: "cnn", Height: 20, Width: 20, Channels: 1, Embedding: 6})
		m.FreezeBatchNorm()
		inParts(m.net, parts)
		z := m.Embed(images(70, m.in, rng.New(1, "x").NormFloat64), Eval)
		m.Backward(z.Clone(), Weights)
		if got := grads(m.net); want == nil {
			want = got
		} else if !sameBits(got, want) {
			t.Error("another gradient in parts")
		}
	}
	s := built(t, NewSequential("s", NewConv2D("conv", 4, 3, 1, 1, true), NewReLU("relu")), 6, 6, 2)
	if y := s.Forward(array.New(0, 6, 6, 2), Train); y.Rows() != 0 {
		t.Errorf("%v from no rows", y.Shape)
	}
}

// What layers refuse, a chain refuses.
func TestChainsRefuse(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		model string
		need  Need
		dim   int
		want  string
	}{{"cnn", Weights, 6, ": weight gradients in mode Eval"}, {"c2f2", Input, 7, "Backward: gradient"}} {
		m := build(t, Spec{Name: c.model, Height: 20, Width: 20, Channels: 1, Embedding: 6})
		inParts(m.net, true)
		m.Embed(images(70, m.in, rng.New(1, "x").NormFloat64), Eval)
		func() {
			defer func() {
				if got := fmt.Sprint(recover()); !strings.Contains(got, c.want) {
					t.Errorf("%s: %s, want %s", c.model, got, c.want)
				}
			}()
			m.Backward(array.New(70, c.dim), c.need)
		}()
	}
	s := built(t, NewSequential("s", NewConv2D("conv1", 4, 3, 1, 1, true), NewReLU("relu"), NewConv2D("conv2", 2, 3, 1, 1, true)), 6, 6, 2)
	inParts(s, true)
	s.Forward(images(9, []int{6, 6, 2}, rng.New(1, "x").NormFloat64), Eval)
	defer func() {
		if got := fmt.Sprint(recover()); !strings.Contains(got, "conv2: gradient [9 6 6 1], want 9 rows") {
			t.Error(got)
		}
	}()
	s.Backward(array.New(9, 6, 6, 1), Input)
}

// The rule: few rows where maps are large and weights small.
func TestRowsAtOnce(t *testing.T) {
	defer par.SetThreads(0)
	for _, c := range []struct{ threads, n, maps, between, least, want int }{
		{1, 384, 230_000, 200_000, 0, 18},        // 4 MiB of maps: 22 runs
		{2, 384, 230_000, 200_000, 0, 35},        // as much for each thread: 11 runs
		{2, 71, 230_000, 200_000, 0, 71},         // less than two runs
		{2, 73, 230_000, 200_000, 0, 25},         // even runs
		{16, 384, 230_000, 200_000, 0, 384},      // threads need rows
		{1, 24, 10 << 20, 9 << 20, 0, 1},         // a row is larger
		{1, 384, 230_000, 200_000, 5 << 20, 384}, // the maps of a run are not worth its weights
		{2, 384, 230_000, 200_000, 8e6, 35},      // those of two threads are
		{1, 384, 230_000, 50_000, 0, 384},        // little goes from layer to layer
	} {
		par.SetThreads(c.threads)
		ch := chain{n: c.n, atOnce: mapsAtOnce, least: c.least}
		if got := ch.rowsAtOnce(c.maps, c.between); got != c.want {
			t.Errorf("%+v: %d rows at a time", c, got)
		}
	}
}
