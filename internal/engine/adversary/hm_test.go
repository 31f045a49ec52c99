package adversary

import (
	"errors"
	"fmt"
	"math"
	"runtime"
	"strings"
	"testing"

	"tercet/internal/engine/array"
	"tercet/internal/engine/loss"
	"tercet/internal/engine/mine"
	"tercet/internal/engine/nn"
	"tercet/internal/par"
	"tercet/internal/rng"
)

func budget(o HMOptions) HMOptions {
	o.PGD.Eps, o.PGD.Step, o.PGD.Iterations = 0.1, 0.03, 6
	return o
}

func hmOptions(t *testing.T, v Variant) HMOptions {
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

// plainDistance is |x - y + eps|, and gradient to x, in plain float64.
func plainDistance(x, y []float64, eps float64) (float64, []float64) {
	s, g := 0.0, make([]float64, len(x))
	for k := range x {
		g[k] = x[k] - y[k] + eps
		s += g[k] * g[k]
	}
	d := math.Sqrt(s)
	for k := range g {
		if d > 0 {
			g[k] /= d
		} else {
			g[k] = 0
		}
	}
	return d, g
}

func wide(x []float32) []float64 {
	out := make([]float64, len(x))
	for k, v := range x {
		out[k] = float64(v)
	}
	return out
}

// plainHM is mean_i min(0, H_i - HD_i)^2 and its gradient.
func plainHM(z [][]float64, dest []float64, eps float64) (float64, [][]float64) {
	n := len(dest)
	value, grad := 0.0, make([][]float64, 3*n)
	for i := range grad {
		grad[i] = make([]float64, len(z[0]))
	}
	for i, hd := range dest {
		ap, gp := plainDistance(z[i], z[n+i], eps)
		an, gn := plainDistance(z[i], z[2*n+i], eps)
		short := math.Min(0, ap-an-hd)
		value += short * short / float64(n)
		for k := range gp {
			w := 2 * short / float64(n)
			grad[i][k] += w * (gp[k] - gn[k])
			grad[n+i][k] -= w * gp[k]
			grad[2*n+i][k] += w * gn[k]
		}
	}
	return value, grad
}

func TestHardnessGoalAgainstExplicitLoops(t *testing.T) {
	for _, eps := range []float64{0, 1e-6} {
		for _, n := range []int{1, 2, 7, 40} {
			z := embeddings(uint64(n), 3*n, 5)
			copy(z.Row(n), z.Row(0)) // an anchor that is its own positive
			g := &towards{eps: eps, destination: make([]float64, n), count: n}
			r := rng.New(3, "destination")
			for i := range g.destination {
				g.destination[i] = r.Uniform(-1.5, 1)
			}
			rows := make([][]float64, 3*n)
			for i := range rows {
				rows[i] = wide(z.Row(i))
			}
			want, grad := plainHM(rows, g.destination, eps)
			per, got := make([]float64, 3*n), array.New(3*n, 5)
			if err := g.Eval(z, per, got); err != nil {
				t.Fatal(err)
			}
			sum := 0.0
			for _, v := range per {
				sum += v
			}
			if math.Abs(sum-want) > 1e-13 || math.Abs(g.value-want) > 1e-13 {
				t.Fatalf("n %d eps %v: objective %v, %v, want %v", n, eps, sum, g.value, want)
			}
			active := 0
			for i := range grad {
				for k, w := range grad[i] {
					if math.Abs(float64(got.Row(i)[k])-w) > 1e-7*(1+math.Abs(w)) {
						t.Fatalf("n %d eps %v: gradient[%d][%d] = %v, want %v", n, eps, i, k, got.Row(i)[k], w)
					}
					if w != 0 {
						active++
					}
				}
			}
			if n == 40 && (active == 0 || active == 3*n*5) {
				t.Errorf("%d active entries: the case has no hinge", active)
			}
			again := make([]float64, 3*n)
			if err := g.Eval(z, again, nil); err != nil || fmt.Sprint(again) != fmt.Sprint(per) {
				t.Errorf("without gradient %v (%v)", again, err)
			}
		}
	}
	g := &towards{destination: make([]float64, 2), count: 2}
	if err := g.Eval(array.New(5, 3), make([]float64, 5), nil); !errors.Is(err, array.ErrShape) {
		t.Error(err)
	}
}

func TestHardnessGoalByFiniteDifferences(t *testing.T) {
	const n = 6
	z := embeddings(4, 3*n, 4)
	g := &towards{eps: 1e-6, destination: []float64{1, 0.5, 1, 0.7, 2, 1}, count: n}
	per, grad := make([]float64, 3*n), array.New(3*n, 4)
	if err := g.Eval(z, per, grad); err != nil {
		t.Fatal(err)
	}
	for i, old := range z.Data {
		const h = 1.0 / 1024
		at := func(v float32) float64 {
			z.Data[i] = v
			if err := g.Eval(z, per, nil); err != nil {
				t.Fatal(err)
			}
			return g.value
		}
		up, down := old+h, old-h
		want := (at(up) - at(down)) / (float64(up) - float64(down))
		z.Data[i] = old
		if got := float64(grad.Data[i]); math.Abs(got-want) > 1e-5*(1+math.Abs(want)) {
			t.Fatalf("gradient %d is %v, differences give %v", i, got, want)
		}
	}
}

// gamma 0.2, u 0.2: l = 0.05 is a quarter of u.
func TestPseudoHardness(t *testing.T) {
	for _, c := range []struct {
		d    Destination
		l    float64
		want float64
	}{
		{Destination{Name: "lga", Gamma: 0.2, U: 0.2}, 0.05, -0.05},
		{Destination{Name: "lga", Gamma: 0.2, U: 0.2}, 2, -0.2},
		{Destination{Name: "lga", Gamma: 0.2, U: 0.2}, 0, 0},
		{Destination{Name: "lga", Gamma: 0.2, U: 2.2}, 1.1, -0.1},
		{Destination{Name: "lga-squared", Gamma: 0.2, U: 0.2}, 0.05, -0.0125},
		{Destination{Name: "lga-root", Gamma: 0.2, U: 0.2}, 0.05, -0.1},
		{Destination{Name: "boost", Sampler: "semihard", Xi: 0.1, U: 0.2}, 0.05, 0.075},
		{Destination{Name: "boost", Sampler: "semihard", Xi: 0.1, U: 0.2}, 5, 0},
		{Destination{Name: "constant", Value: -0.1}, 0.05, -0.1},
		{Destination{Name: "semihard"}, 0.05, 0},
	} {
		if err := c.d.validate(); err != nil {
			t.Error(err)
		}
		if got := c.d.pseudo(c.l); math.Abs(got-c.want) > 1e-15 {
			t.Errorf("%+v at %v: %v, want %v", c.d, c.l, got, c.want)
		}
	}
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

// plainNet is net in float64, with the input gradient.
func plainNet(m *net, x []float64) (z []float64, back func(dz []float64) []float64) {
	h := make([]float64, len(m.w1))
	for a, w := range m.w1 {
		for k := range x {
			h[a] += w[k] * x[k]
		}
		h[a] = math.Tanh(h[a])
	}
	z = make([]float64, len(m.w2))
	for b, w := range m.w2 {
		for a := range h {
			z[b] += w[a] * h[a]
		}
	}
	return z, func(dz []float64) []float64 {
		g := make([]float64, len(x))
		for a, w := range m.w1 {
			s := 0.0
			for b := range m.w2 {
				s += m.w2[b][a] * dz[b]
			}
			for k := range g {
				g[k] += s * (1 - h[a]*h[a]) * w[k]
			}
		}
		return g
	}
}

// plainCraft is the crafting of HM, written from sections 2.1 and 2.3 of the
// specification: float64, one image after the other.
func plainCraft(m *net, clean [][]float64, dest []float64, eps, alpha float64, iterations int, nudge, tolerance float64) (x [][]float64, passes int) {
	x = make([][]float64, len(clean))
	for i := range x {
		x[i] = append([]float64(nil), clean[i]...)
	}
	last := -1.0
	for range iterations {
		passes++
		z := make([][]float64, len(x))
		back := make([]func([]float64) []float64, len(x))
		for i := range x {
			z[i], back[i] = plainNet(m, x[i])
		}
		value, grad := plainHM(z, dest, nudge)
		for i := range x {
			g := back[i](grad[i])
			for k := range g {
				switch {
				case g[k] > 0:
					x[i][k] -= alpha
				case g[k] < 0:
					x[i][k] += alpha
				}
				x[i][k] = math.Max(math.Min(x[i][k], clean[i][k]+eps), clean[i][k]-eps)
				x[i][k] = math.Max(math.Min(x[i][k], 1), 0)
			}
		}
		if math.Abs(last-value) < tolerance {
			break
		}
		last = value
	}
	return x, passes
}

func TestHMAgainstAPlainImplementation(t *testing.T) {
	for _, variant := range []Variant{Paper, Published} {
		for _, d := range []Destination{
			{Name: "lga", Gamma: 0.2, U: 0.2}, {Name: "lga-squared", Gamma: 0.2, U: 0.3}, {Name: "lga-root", Gamma: 0.3, U: 0.2},
			{Name: "constant", Value: -0.1}, {Name: "constant", Value: 2}, {Name: "constant", Value: -2},
			{Name: "semihard"}, {Name: "hardest"}, {Name: "random"}, {Name: "boost", Sampler: "semihard", Xi: 0.1, U: 0.2},
		} {
			const pairs, seed, step = 9, 5, 3
			m, in := scene(21, pairs)
			o := hmOptions(t, variant)
			o.Destination = d
			h := newHM(t, o)
			h.Observe(0.07)

			// Clean embeddings and mining by hand.
			clean := make([][]float64, 2*pairs)
			z := array.New(2*pairs, 4)
			for i := range clean {
				clean[i] = wide(in.Images.Row(i))
				e, _ := plainNet(m, clean[i])
				for k, v := range e {
					z.Row(i)[k] = float32(v)
				}
			}
			draw := func(name, stream string) []loss.Triplet {
				mn, err := mine.New(name, o.Mine)
				if err != nil {
					t.Fatal(err)
				}
				var ts loss.Tuples
				if _, err := mn.Mine(z, in.Labels, rng.New(seed, stream, step), &ts); err != nil {
					t.Fatal(err)
				}
				return ts.Triplets
			}
			source := draw("softhard", "hm-source")
			dest := make([]float64, pairs)
			l := math.Min(0.07, d.U) / d.U
			for i := range dest {
				switch d.Name {
				case "constant":
					dest[i] = d.Value
				case "lga":
					dest[i] = -d.Gamma * l
				case "lga-squared":
					dest[i] = -d.Gamma * l * l
				case "lga-root":
					dest[i] = -d.Gamma * math.Sqrt(l)
				default:
					name := d.Name
					if name == "boost" {
						name = d.Sampler
					}
					x := draw(name, "hm-destination")[i]
					ap, _ := plainDistance(wide(z.Row(int(x.A))), wide(z.Row(int(x.P))), o.Eps)
					an, _ := plainDistance(wide(z.Row(int(x.A))), wide(z.Row(int(x.N))), o.Eps)
					dest[i] = ap - an
					if d.Name == "boost" {
						dest[i] += d.Xi * (1 - l)
					}
				}
			}
			gathered := make([][]float64, 0, 3*pairs)
			for _, x := range source {
				gathered = append(gathered, clean[x.A])
			}
			for _, x := range source {
				gathered = append(gathered, clean[x.P])
			}
			for _, x := range source {
				gathered = append(gathered, clean[x.N])
			}
			want, passes := plainCraft(m, gathered, dest, o.PGD.Eps, o.PGD.Step, o.PGD.Iterations, o.Eps, o.Tolerance)

			out, cost, err := h.Craft(m, in, seed, step)
			if err != nil {
				t.Fatalf("%s %+v: %v", variant, d, err)
			}
			if out.Images.Rows() != 3*pairs || len(out.Labels) != 3*pairs || len(out.IDs) != 3*pairs || len(out.Tuples.Triplets) != pairs {
				t.Fatalf("%s %+v: %d images, %d labels, %d ids, %d triplets", variant, d, out.Images.Rows(), len(out.Labels), len(out.IDs), len(out.Tuples.Triplets))
			}
			for i, x := range out.Tuples.Triplets {
				if x != (loss.Triplet{A: int32(i), P: int32(pairs + i), N: int32(2*pairs + i)}) || out.Labels[x.P] != out.Labels[x.A] ||
					out.Labels[x.A] != in.Labels[source[i].A] || out.Labels[x.N] != in.Labels[source[i].N] || out.IDs[x.N] != in.IDs[source[i].N] {
					t.Fatalf("%s %+v: triplet %d is %+v", variant, d, i, x)
				}
			}
			for i := range want {
				for k, w := range want[i] {
					if math.Abs(float64(out.Images.Row(i)[k])-w) > 1e-6 {
						t.Fatalf("%s %+v: image %d pixel %d is %v, want %v", variant, d, i, k, out.Images.Row(i)[k], w)
					}
				}
			}
			// The clean pass, then eta passes both ways; no weight gradients.
			if wantCost := (Cost{int64(2*pairs + 3*pairs*passes), int64(3 * pairs * passes)}); cost != wantCost {
				t.Errorf("%s %+v: cost %+v, want %+v", variant, d, cost, wantCost)
			}
			if variant == Paper && passes != 6 || d.Value == -2 && variant == Published && passes != 2 {
				t.Errorf("%s %+v: %d passes", variant, d, passes)
			}
			if m.weightsWereAsk || m.mode != nn.Eval {
				t.Errorf("%s %+v: weight gradients %v, mode %v", variant, d, m.weightsWereAsk, m.mode)
			}
		}
	}
}

// Crafting makes the triplets harder, up to their destination and hardly beyond.
func TestHMReachesItsDestination(t *testing.T) {
	m, in := scene(22, 12)
	o := hmOptions(t, Paper)
	o.Destination = Destination{Name: "constant", Value: -0.1}
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
	o := hmOptions(t, Published)
	o.Source, o.Destination = "semihard", Destination{Name: "semihard"}
	in.Tuples = &loss.Tuples{Triplets: []loss.Triplet{{A: 0, P: 1, N: 4}, {A: 2, P: 3, N: 4}}}
	out, cost, err := newHM(t, o).Craft(m, in, 1, 1)
	if err != nil || cost != (Cost{}) || m.forward != 0 {
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
	if _, cost, err := newHM(t, o).Craft(m, in, 1, 1); err != nil || cost != (Cost{18 * 6, 18 * 6}) {
		t.Errorf("%+v, %v", cost, err)
	}
	o.Destination = Destination{Name: "random"}
	want, cost, err := newHM(t, o).Craft(m, in, 1, 1)
	if err != nil || cost != (Cost{12 + 18*6, 18 * 6}) {
		t.Fatalf("%+v, %v", cost, err)
	}
	in.Clean = z
	if got, cost, err := newHM(t, o).Craft(m, in, 1, 1); err != nil || cost != (Cost{18 * 6, 18 * 6}) || fmt.Sprint(got.Images.Data) != fmt.Sprint(want.Images.Data) {
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

// A gradual destination follows the observed loss, and a restored run goes on as
// the one that was not interrupted.
func TestHMFollowsTheLoss(t *testing.T) {
	for _, v := range []Variant{Paper, Published} {
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
					t.Fatalf("%s step %d: the restored defence crafts other images (%v)", v, step, err)
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
	published := hmOptions(t, Published)
	if p, err := HMDefaults(Published, 0.5); err != nil || p.Destination.Gamma != 0.2 || p.Destination.U != 0.2 || p.First != 2 || p.Eps != 1e-6 || p.Tolerance != 1e-7 || published.First != 2 {
		t.Errorf("%+v, %v", p, err)
	}
	if p, err := HMDefaults(Paper, 0.5); err != nil || p.Destination.Gamma != 0.5 || p.Destination.U != 0.5 || p.First != 2.5 || p.Eps != 0 || p.Tolerance != 0 || !p.PGD.FGSM {
		t.Errorf("%+v, %v", p, err)
	}
}

func TestICS(t *testing.T) {
	for _, v := range []Variant{Paper, Published} {
		for _, margin := range []float64{0, 0.2} {
			m, in := scene(26, 8)
			o := hmOptions(t, v)
			o.ICS = ICSOptions{Lambda: 0.5, Margin: margin}
			h := newHM(t, o)
			out, _, err := h.Craft(m, in, 1, 1)
			if err != nil {
				t.Fatal(err)
			}
			const n = 8
			if out.Images.Rows() != 5*n || len(out.Labels) != 5*n {
				t.Fatalf("%d rows", out.Images.Rows())
			}
			for i := range n { // benign anchors and positives follow
				if fmt.Sprint(out.Images.Row(3*n+i)) != fmt.Sprint(h.clean.Row(i)) || fmt.Sprint(out.Images.Row(4*n+i)) != fmt.Sprint(h.clean.Row(n+i)) {
					t.Fatalf("triplet %d: benign rows differ", i)
				}
			}
			z := embeddings(9, 5*n, 4)
			if margin == 0 {
				z = m.Embed(out.Images, nn.Eval).Clone()
			}
			at := func(dz *array.Array) float64 {
				got, err := h.Penalty(out, z, dz)
				if err != nil {
					t.Fatal(err)
				}
				return got
			}
			want := 0.0
			for i := range n {
				a, tilde, p := wide(z.Row(3*n+i)), wide(z.Row(i)), wide(z.Row(4*n+i))
				moved, _ := plainDistance(a, tilde, o.Eps)
				within, _ := plainDistance(a, p, o.Eps)
				want += 0.5 / n * math.Max(0, moved-within+margin)
			}
			dz := array.New(5*n, 4)
			for i := range dz.Data {
				dz.Data[i] = 1
			}
			if got := at(dz); math.Abs(got-want) > 1e-12 || want == 0 {
				t.Fatalf("%s margin %v: %v, want %v", v, margin, got, want)
			}
			if margin == 0 {
				continue // distances near 0 have kinks
			}
			scratch := array.New(5*n, 4)
			for i, old := range z.Data {
				const step = 1.0 / 4096
				up, down := old+step, old-step
				z.Data[i] = up
				high := at(scratch)
				z.Data[i] = down
				want := (high - at(scratch)) / (float64(up) - float64(down))
				z.Data[i] = old
				if got := float64(dz.Data[i]) - 1; math.Abs(got-want) > 1e-4 {
					t.Fatalf("%s: gradient %d added is %v, differences give %v", v, i, got, want)
				}
			}
		}
	}
	m, in := scene(26, 8)
	h := newHM(t, hmOptions(t, Paper))
	out, _, err := h.Craft(m, in, 1, 1)
	if err != nil || out.Images.Rows() != 24 {
		t.Fatal(err)
	}
	if l, err := h.Penalty(out, embeddings(1, 24, 4), nil); l != 0 || err != nil {
		t.Errorf("penalty without ICS: %v, %v", l, err)
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
		func(o *HMOptions) { o.Destination = Destination{Name: "constant", Value: 3} },
		func(o *HMOptions) { o.Destination = Destination{Name: "constant", Value: math.NaN()} },
		func(o *HMOptions) { o.Destination.U = 0 },
		func(o *HMOptions) { o.Destination.Gamma = -1 },
		func(o *HMOptions) { o.Destination = Destination{Name: "boost", Sampler: "lga", U: 1} },
		func(o *HMOptions) {
			o.Destination = Destination{Name: "boost", Sampler: "random", U: 1, Xi: math.NaN()}
		},
		func(o *HMOptions) { o.PGD.Iterations = 0 },
		func(o *HMOptions) { o.Eps = -1 },
		func(o *HMOptions) { o.First = math.NaN() },
		func(o *HMOptions) { o.Tolerance = -1 },
		func(o *HMOptions) { o.ICS.Lambda = -1 },
		func(o *HMOptions) { o.ICS.Lambda = math.NaN() },
		func(o *HMOptions) { o.ICS = ICSOptions{1, -1} },
		func(o *HMOptions) { o.Mine.Layout = "rows" },
	} {
		o := hmOptions(t, Paper)
		bad(&o)
		if _, err := NewHM(o); err == nil {
			t.Errorf("%+v accepted", o)
		}
	}
	if _, err := HMDefaults("robrank", 0.2); err == nil {
		t.Error("unknown variant accepted")
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
		o := hmOptions(t, Published)
		o.Destination = Destination{Name: "boost", Sampler: "semihard", Xi: 0.1, U: 0.2}
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
	o.Destination = Destination{Name: "boost", Sampler: "semihard", Xi: 0.1, U: 0.2}
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
