package adversary

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"tercet/internal/component"
	"tercet/internal/engine/adversary/hardness"
	"tercet/internal/engine/mine"
	"tercet/internal/engine/nn"
	"tercet/internal/par"
)

// every calls f for each defense that a config can name, and for those with a destination
// towards each one, with their defaults.
func every(t *testing.T, f func(t *testing.T, k Keys)) {
	for _, c := range Family.All() {
		var towards func(Target) Keys
		switch k := c.Defaults.(type) {
		case HMKeys:
			towards = func(d Target) Keys { k.Destination = d; return k }
		case FreeKeys:
			towards = func(d Target) Keys { k.Destination = d; return k }
		default:
			t.Run(c.Name, func(t *testing.T) { f(t, c.Defaults) })
			continue
		}
		for _, d := range hardness.Destinations.All() {
			t.Run(c.Name+" "+d.Name, func(t *testing.T) { f(t, towards(Target{Name: d.Name, Options: d.Defaults})) })
		}
	}
}

func made(t *testing.T, k Keys) Defense {
	t.Helper()
	d, err := k.New(Setting{Side: 28, Margin: 0.2, Miner: "softhard", Mine: mine.Options{Layout: mine.Pairs, Margin: 0.2, AnyRow: true}})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// Images stay in the ball around the image of their id and in [0, 1], and are the same
// bits for any number of threads and for a defense that is made again.
func TestEveryDefense(t *testing.T) {
	defer par.SetThreads(0)
	every(t, func(t *testing.T, k Keys) {
		if list := component.Check(k); len(list) > 0 {
			t.Fatalf("its defaults are refused: %v", list)
		}
		want := ""
		for _, threads := range []int{1, 2} {
			par.SetThreads(threads)
			d := made(t, k)
			net, in := scene(7, 12)
			var m nn.Embedder = net
			if b, ok := d.(Binding); ok && b.Binds() { // it looks into the network
				m, in = ibpScene(t, true)
			}
			if d.MinesClean() {
				in.Tuples, in.Clean = someTriplets(12), net.Embed(in.Images, nn.Eval).Clone()
			}
			out, _, err := d.Craft(m, in, 3, 1)
			if err != nil {
				t.Fatal(err)
			}
			if c, ok := k.(Crafter); ok {
				_, may := k.(Sourced) // stay: its triplets have arrived, or it is the first step
				if moved := inBall(t, in, out, c.Crafting().PGD(28).Eps); !moved && !may {
					t.Error("no image is moved")
				}
			} else if _, noise := k.(NoiseKeys); !noise && out != in {
				t.Error("another batch without crafting")
			}
			got := fmt.Sprintf("%x %v %v", out.Images.Data, out.Labels, out.IDs)
			if want == "" {
				want = got
			}
			if got != want {
				t.Error("two threads give other bits")
			}
		}
	})
}

// inBall compares each row of out with the image of its id in in, and says whether some
// pixel is another one.
func inBall(t *testing.T, in, out *Batch, eps float64) (moved bool) {
	t.Helper()
	for i, id := range out.IDs {
		clean := in.Images.Row(slices.Index(in.IDs, id))
		for k, v := range out.Images.Row(i) {
			off := math.Abs(float64(v) - float64(clean[k]))
			if off > eps+1e-6 || v < 0 || v > 1 {
				t.Fatalf("row %d, pixel %d: %v, clean %v, eps %v", i, k, v, clean[k], eps)
			}
			moved = moved || off > 0
		}
	}
	return moved
}

// A destination is a hardness of points of the unit sphere, and only those that follow
// the loss change with it; where they do, they rise as the loss falls.
func TestEveryDestination(t *testing.T) {
	for _, c := range hardness.Destinations.All() {
		d := hardness.Destination{Name: c.Name, Gamma: 0.2, U: 0.2}
		c.Defaults.Set(&d)
		if err := d.Validate(); err != nil {
			t.Errorf("%s: %v", c.Name, err)
		}
		last := math.Inf(1)
		for _, loss := range []float64{0, 0.05, 0.1, 0.2, 5} {
			h := d.Pseudo(loss)
			if !(h >= -2 && h <= 2) || h > last || !d.Gradual() && h != d.Pseudo(0) {
				t.Errorf("%s: %v at a loss of %v, %v before", c.Name, h, loss, last)
			}
			last = h
		}
		if d.Gradual() && d.Pseudo(0) <= d.Pseudo(5) {
			t.Errorf("%s follows the loss, and is %v at all", c.Name, d.Pseudo(0))
		}
		for name, bad := range map[string]func(*hardness.Destination){
			"u": func(d *hardness.Destination) { d.U = 0 }, "gamma": func(d *hardness.Destination) { d.Gamma = math.NaN() },
			"value": func(d *hardness.Destination) { d.Value = 3 }, "xi": func(d *hardness.Destination) { d.Xi = math.Inf(1) },
		} {
			wrong := d
			bad(&wrong)
			if err := wrong.Validate(); err == nil && wrong.Pseudo(0.1) != d.Pseudo(0.1) {
				t.Errorf("%s uses %s and takes a bad one", c.Name, name)
			}
		}
	}
}
