package attack

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"tercet/internal/attack/retrieval"
	"tercet/internal/engine/array"
	"tercet/internal/engine/nn"
	"tercet/internal/rng"
)

// towardsItem is a method for tests of the runner: it pulls z to a random gallery
// item. The published target may be the query itself; the fixed one is the next
// item then. Its names share "CA" so that draws repeat it.
type towardsItem struct {
	g       *retrieval.Gallery
	v       Variant
	kind    string
	always  bool // the fixed target differs for every query of an odd item
	targets []int32
	seed    uint64
	nan     int // item whose objective is NaN, or -1
	items   []int
}

func (m *towardsItem) Kind() string     { return m.kind }
func (m *towardsItem) Scores() []string { return []string{"CA+", "CA+:last"} }

func (m *towardsItem) Aim(b *Batch, draw int) error {
	m.targets, m.items = nil, b.Items
	n := m.g.Len()
	for _, q := range b.Items {
		r := rng.New(m.seed, "fake", uint64(q), uint64(draw))
		t := r.IntN(n)
		if m.v == Fixed && (t == q || m.always && q%2 == 1) {
			t = (t + 1) % n
		}
		m.targets = append(m.targets, int32(t))
	}
	return nil
}

func (m *towardsItem) Targets(i int) []int32 { return m.targets[i : i+1] }

func (m *towardsItem) Eval(z *array.Array, per []float64, grad *array.Array) error {
	for i := range per {
		t := m.g.X.Row(int(m.targets[i]))
		per[i] = 0
		for k, v := range z.Row(i) {
			d := float64(v) - float64(t[k])
			per[i] += d * d
			if grad != nil {
				grad.Row(i)[k] = float32(2 * d)
			}
		}
		if m.items[i] == m.nan {
			per[i] = math.NaN()
		}
	}
	return nil
}

func (m *towardsItem) Score(z, previous *array.Array, out [][]float64) {
	for i, t := range m.targets {
		out[0][i] = distance(z.Row(i), m.g.X.Row(int(t)), 0)
		out[1][i] = distance(z.Row(i), previous.Row(i), 0)
	}
}

// fakes returns a maker of towardsItem.
func fakes(change func(m *towardsItem)) maker {
	return func(name string, g *retrieval.Gallery, v Variant, o MethodOptions) (Method, error) {
		if name != "CA+" && name != "QA+" {
			return nil, errors.New("no such fake")
		}
		m := &towardsItem{g: g, v: v, kind: name, seed: o.Seed, nan: -1}
		if change != nil {
			change(m)
		}
		return m, nil
	}
}

// tried is a gallery of 24 images of 4 classes and what attacks it.
type tried struct {
	m *model
	s set
	g *retrieval.Gallery
	o Options
}

func newTried() tried {
	m := newModel(5, 6, 8, 3)
	s, labels := newSet(6, 24, 4)
	g, err := retrieval.NewGallery(galleryOf(m, s), labels)
	if err != nil {
		panic(err)
	}
	return tried{m, s, g, Options{PGD: Profile{Name: "tiny", Eps: 0.1, Step: 0.02, Iterations: 6}.PGD(), Seed: 1, Pictures: 24, Batch: 7}}
}

func (x tried) run(methods maker) (*Result, error) {
	return run(context.Background(), x.m, x.s, x.g, x.o, methods)
}

func galleryOf(m *model, s set) *array.Array { return m.Embed(s.x, nn.Eval).Clone() }

// digest writes all that a result says of one variant.
func digest(r *Result, v Variant) string {
	var out []string
	for _, s := range r.Scored {
		if s.Variant == v {
			out = append(out, fmt.Sprintf("%v %x %x", s.Keys, s.Adversarial, s.Clean))
		}
	}
	for _, p := range r.Pictures {
		if p.Variant == v {
			out = append(out, fmt.Sprintf("%s %v %v %x %x %x", p.Attack, p.Kept, p.Targets, p.Adversarial.Data, p.Embedding.Data, p.Objective))
		}
	}
	slices.Sort(out)
	return fmt.Sprint(out)
}
