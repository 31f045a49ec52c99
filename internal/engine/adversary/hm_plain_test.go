package adversary

import (
	"math"
	"testing"

	"tercet/internal/engine/adversary/hardness"
	"tercet/internal/engine/array"
	"tercet/internal/engine/loss"
	"tercet/internal/engine/mine"
	"tercet/internal/engine/nn"
	"tercet/internal/record"
	"tercet/internal/rng"
)

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
	for _, variant := range []Implementation{Paper, Robrank} {
		for _, d := range []hardness.Destination{
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
			if wantCost := (record.Cost{Forward: int64(2*pairs + 3*pairs*passes), Backward: int64(3 * pairs * passes)}); cost != wantCost {
				t.Errorf("%s %+v: cost %+v, want %+v", variant, d, cost, wantCost)
			}
			if variant == Paper && passes != 6 || d.Value == -2 && variant == Robrank && passes != 2 {
				t.Errorf("%s %+v: %d passes", variant, d, passes)
			}
			if m.weightsWereAsk || m.mode != nn.Eval {
				t.Errorf("%s %+v: weight gradients %v, mode %v", variant, d, m.weightsWereAsk, m.mode)
			}
		}
	}
}
