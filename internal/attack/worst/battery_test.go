package worst

import (
	"context"
	"math"
	"testing"

	"tercet/internal/attack/retrieval"
	"tercet/internal/engine/adversary"
	"tercet/internal/engine/array"
	"tercet/internal/engine/nn"
	"tercet/internal/rng"
)

// masked is an embedder with pixels changed by f and embeddings by after; slope and turn are
// their derivatives.
type masked struct {
	*linear
	f, slope, after, turn func(v float64) float64
	last, z               *array.Array
}

func (m *masked) Embed(x *array.Array, mode nn.Mode) *array.Array {
	m.last = x.Clone()
	y := x.Clone()
	if m.f != nil {
		for k, v := range y.Data {
			y.Data[k] = float32(m.f(float64(v)))
		}
	}
	z := m.linear.Embed(y, mode)
	m.z = z.Clone()
	if m.after != nil {
		for k, v := range z.Data {
			z.Data[k] = float32(m.after(float64(v)))
		}
	}
	return z
}

func (m *masked) Backward(dz *array.Array, need nn.Need) *array.Array {
	dz = dz.Clone()
	if m.turn != nil {
		for k, v := range m.z.Data {
			dz.Data[k] *= float32(m.turn(float64(v)))
		}
	}
	dx := m.linear.Backward(dz, need)
	if m.slope != nil {
		for k, v := range m.last.Data {
			dx.Data[k] *= float32(m.slope(float64(v)))
		}
	}
	return dx
}

// verdicts runs the ensemble with the battery.
func verdicts(t *testing.T, m nn.Embedder, s pictures, labels []int32) (map[string]Check, *Result) {
	t.Helper()
	g, err := retrieval.NewGallery(m.Embed(s.x, nn.Eval).Clone(), labels)
	if err != nil {
		t.Fatal(err)
	}
	r, err := Run(context.Background(), m, s, g, Options{Norm: adversary.Linf, Eps: 0.05, Steps: 30, Squares: 400, Battery: true, members: only(Clean, "noise", "apgd-m", "square")})
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]Check{}
	for _, c := range r.Checks {
		out[c.ID] = c
	}
	return out, r
}

// An honest embedder passes; each masked one is flagged by one of the checks that are for it.
func TestBatteryFlagsMaskedGradients(t *testing.T) {
	t.Parallel()
	x := newTried(3, 60, 2, 3)
	base := func() *linear { return &linear{w: x.m.w, b: x.m.b, scale: 1} }
	noise := rng.New(1, "noise")
	for name, c := range map[string]struct {
		m    nn.Embedder
		want []string // checks, one of which has to fail
	}{
		"honest":    {base(), nil},
		"quantized": {&masked{linear: base(), f: func(v float64) float64 { return math.Round(15*v) / 15 }, slope: func(float64) float64 { return 0 }}, []string{"B1", "B3"}},
		"saturated": {&masked{linear: base(), f: func(v float64) float64 { return math.Tanh(1e4*(v-0.5)) / 4 }, slope: func(v float64) float64 {
			h := math.Tanh(1e4 * (v - 0.5))
			return 1e4 * (1 - h*h) / 4
		}}, []string{"B1", "B15"}},
		"shattered":    {&masked{linear: base(), after: func(v float64) float64 { return v + 0.05*math.Sin(1e3*v) }, turn: func(v float64) float64 { return 1 + 50*math.Cos(1e3*v) }}, []string{"B4", "B14", "B16"}},
		"random":       {&masked{linear: base(), after: func(v float64) float64 { return v + 1e-5*noise.NormFloat64() }}, []string{"B2"}},
		"no gradients": {&masked{linear: base(), slope: func(float64) float64 { return 0 }}, []string{"B1"}},
	} {
		checks, r := verdicts(t, c.m, x.s, x.g.Labels)
		if len(checks) < 16 {
			t.Errorf("%s: %d checks", name, len(checks))
		}
		flagged := c.want == nil
		for _, id := range c.want {
			flagged = flagged || checks[id].Verdict() == Fail
		}
		for id, check := range checks {
			if c.want == nil && check.Verdict() == Fail {
				t.Errorf("%s: %s %+v", name, id, check)
			}
		}
		if !flagged {
			t.Errorf("%s is not flagged: %+v, %+v", name, checks, r.Galleries[0].Counts())
		}
	}
}

// A right row with the image of the nearest wrong one is the nearest to a copy of it, by its
// index. That is no sign of masked gradients: copies of other wrong images break the query.
func TestBatteryWithTwins(t *testing.T) {
	t.Parallel()
	x := newTried(3, 60, 3, 3)
	nearest := func() (row int) {
		best := math.Inf(1)
		for j := 3; j < x.g.Len(); j++ {
			square := 0.0
			for k, v := range x.g.X.Row(j) {
				d := float64(x.g.X.Row(0)[k]) - float64(v)
				square += d * d
			}
			if square < best {
				best, row = square, j
			}
		}
		return row
	}()
	copy(x.s.x.Row(2), x.s.x.Row(nearest)) // of the label of query 0
	z := x.m.Embed(x.s.x, nn.Eval).Clone()
	labels := x.g.Labels
	var err error
	if x.g, err = retrieval.NewGallery(z, labels); err != nil {
		t.Fatal(err)
	}
	if !x.plain(0, x.s.x.Row(0)) || !x.plain(0, x.s.x.Row(nearest)) {
		t.Fatal("query 0 is not right, clean and as a copy of the nearest wrong image")
	}
	checks, _ := verdicts(t, x.m, x.s, labels)
	if c, ok := checks["B8"]; !ok || c.Verdict() != Pass {
		t.Errorf("%+v, want a pass", c)
	}
}

func TestVerdict(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		value, warn, fail float64
		want              string
	}{{0, 0, 0, Pass}, {0.1, 0, 0.2, Warn}, {0.3, 0, 0.2, Fail}, {0.1, 0, 0, Fail}, {9, 0, math.Inf(1), Warn}, {math.NaN(), 1, math.Inf(1), Fail}} {
		if got := (Check{Value: c.value, Warn: c.warn, Fail: c.fail}).Verdict(); got != c.want {
			t.Errorf("%+v: %s", c, got)
		}
	}
}

// late embeds honestly for some calls and then gives all images one embedding.
type late struct {
	*linear
	honest int
}

func (m *late) Embed(x *array.Array, mode nn.Mode) *array.Array {
	z := m.linear.Embed(x, mode)
	if m.honest--; m.honest < 0 {
		clear(z.Data)
	}
	return z
}

// Queries that any of the five further random starts breaks count for B6.
func TestFurtherRestarts(t *testing.T) {
	t.Parallel()
	x := newTried(3, 20, 2, 3)
	for _, c := range []struct {
		starts int
		want   float64 // all but the class that is nearest to the one embedding
	}{{0, 0.9}, {4, 0.9}, {5, 0}} {
		o := Options{Norm: adversary.Linf, Eps: 1e-6, Steps: 4, Together: 64}
		if err := o.fill(); err != nil {
			t.Fatal(err)
		}
		m := &late{x.m, math.MaxInt}
		r := &runner{ctx: t.Context(), o: o, model: m, verifier: m, images: x.s, gallery: x.g, pgd: o.pgd()}
		if _, err := r.begin(); err != nil {
			t.Fatal(err)
		}
		var err error
		if r.field, err = newField(Full, x.g, 1); err != nil {
			t.Fatal(err)
		}
		r.s = &State{Gallery: Full, By: make([]int, len(r.items))}
		b := &battery{runner: r}
		for p := range r.items {
			r.field.aim(r.items[p : p+1])
			if r.field.find(r.clean.Slice(p, p+1), 1); !beaten(r.field, 0) {
				b.places = append(b.places, p)
			}
		}
		m.honest = c.starts * (o.Steps + 1)
		if err := b.restarts(); err != nil {
			t.Fatal(err)
		}
		if got := b.out[0]; got.ID != "B6" || got.Value < c.want-0.1 || got.Value > c.want+0.1 {
			t.Errorf("%d starts: %+v, want %v", c.starts, got, c.want)
		}
	}
}

// Where nothing is claimed, nothing was lost in verification.
func TestVerificationOfNothing(t *testing.T) {
	t.Parallel()
	b := &battery{runner: &runner{s: &State{Ran: []Ran{{Member: Clean}}}}}
	if err := b.randomness(); err != nil {
		t.Fatal(err)
	}
	for _, c := range b.out {
		if c.ID == "B18" && c.Verdict() != Pass {
			t.Errorf("%+v", c)
		}
	}
	b = &battery{runner: &runner{s: &State{Ran: []Ran{{Claimed: 3, Broken: 3}, {Claimed: 7, Broken: 6}}}}}
	if err := b.randomness(); err != nil || b.out[1].Value != 0.1 || b.out[1].Verdict() != Fail {
		t.Errorf("%v %+v", err, b.out)
	}
}
