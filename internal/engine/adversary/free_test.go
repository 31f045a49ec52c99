package adversary

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"

	"tercet/internal/engine/adversary/hardness"
	"tercet/internal/engine/mine"
	"tercet/internal/record"
)

func newFree(t *testing.T, value float64) *Free {
	t.Helper()
	eps, alpha := 0.1, 0.03
	d, err := FreeKeys{Destination: Target{"constant", hardness.Constant{Value: value}}, Replays: 4, Eps: &eps, Alpha: &alpha}.New(
		Setting{Side: 8, Margin: 0.2, Miner: "random", Mine: mine.Options{Layout: mine.Pairs, Margin: 0.2, AnyRow: true}})
	if err != nil {
		t.Fatal(err)
	}
	return d.(*Free)
}

// Free training against plain loops in float64: the images trained on are those of the
// perturbations so far, which then take one step; batches of other images continue with
// them, slot by slot.
func TestFreeAgainstPlainLoops(t *testing.T) {
	const pairs, eps, alpha = 9, 0.1, 0.03
	for _, value := range []float64{-0.1, 2} {
		f := newFree(t, value)
		delta := zeros(3*pairs, 0)
		moved, whole := 0.0, 0
		for step := range 6 {
			m, in := scene(61, pairs)
			if step > 3 { // the same weights, other images
				_, in = scene(62, pairs)
			}
			in.Tuples = someTriplets(pairs)
			a, p, n := roleRows(in, in.Tuples)
			clean := append(append(append([][]float64(nil), a...), p...), n...)
			want := make([][]float64, len(clean))
			z, back := make([][]float64, len(clean)), make([]func([]float64) []float64, len(clean))
			for i, x := range clean {
				if step == 0 {
					delta[i] = make([]float64, len(x))
				}
				want[i] = make([]float64, len(x))
				for k, v := range x {
					want[i][k] = math.Min(1, math.Max(0, v+delta[i][k]))
					moved = math.Max(moved, math.Abs(delta[i][k]))
				}
				z[i], back[i] = plainNet(m, want[i])
			}
			dest := make([]float64, pairs)
			for i := range dest {
				dest[i] = value
			}
			_, grad := plainHM(z, dest, 0)
			out, cost, err := f.Craft(m, in, 1, uint64(step))
			if err != nil {
				t.Fatal(err)
			}
			matches(t, fmt.Sprintf("to %v, step %d", value, step), out.Images, want)
			if rows := int64(3 * pairs); cost != (record.Cost{Forward: rows, Backward: rows}) {
				t.Errorf("cost %+v", cost)
			}
			for i := range delta {
				for k, g := range back[i](grad[i]) {
					if g > 0 {
						delta[i][k] -= alpha
					} else if g < 0 {
						delta[i][k] += alpha
					}
					delta[i][k] = math.Min(eps, math.Max(-eps, delta[i][k]))
				}
			}
			sameRadius(t, "free", f.Crafted().Radius, radiusByHand(wideRows(out.Images), clean))
			f.Observe(0.1)
			whole++
		}
		if math.Abs(moved-eps) > 1e-6 || whole != 6 {
			t.Errorf("to %v: perturbations of %v at most: the test shows little", value, moved)
		}
	}
}

// A state that was saved and restored continues with the same images; a broken one is
// refused.
func TestFreeState(t *testing.T) {
	m, in := scene(61, 9)
	in.Tuples = someTriplets(9)
	f, g := newFree(t, 2), newFree(t, 2)
	for step := range uint64(3) {
		if _, _, err := f.Craft(m, in, 1, step); err != nil {
			t.Fatal(err)
		}
		f.Observe(0.1)
	}
	state := f.State()
	if err := g.Restore(state); err != nil {
		t.Fatal(err)
	}
	a, _, err := f.Craft(m, in, 1, 3)
	if err != nil {
		t.Fatal(err)
	}
	b, _, err := g.Craft(m, in, 1, 3)
	if err != nil || fmt.Sprintf("%x", a.Images.Data) != fmt.Sprintf("%x", b.Images.Data) {
		t.Errorf("other images after a restart (%v)", err)
	}
	var s map[string]any
	if err := json.Unmarshal(state, &s); err != nil {
		t.Fatal(err)
	}
	for what, bad := range map[string]string{
		"nothing": "", "no loss": `{"hm": {}, "delta": ["", "", ""]}`,
		"other sizes":      `{"hm": {"loss": 1}, "delta": ["AAAAAA==", "", ""]}`,
		"outside the ball": `{"hm": {"loss": 1}, "delta": ["AACAPw==", "AACAPw==", "AACAPw=="]}`,
	} {
		if err := newFree(t, 2).Restore(json.RawMessage(bad)); err == nil || !strings.Contains(err.Error(), "state") && !strings.Contains(err.Error(), "hm:") {
			t.Errorf("%s: %v", what, err)
		}
	}
}
