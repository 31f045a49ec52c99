package adversary

import (
	"math"
	"slices"
	"testing"

	"tercet/internal/engine/array"
)

// Every triplet of the sextuplet under HM and ACT: the rows of the batch are the images
// that its name says, the penalty is that of plain loops in float64, and the gradient
// that of differences.
func TestTripletsOfTheSextuplet(t *testing.T) {
	const n = 8
	// Rows in multiples of n: a~ or ACT's a, p~, n~, then the benign a, p, n.
	of := map[string][3]int{
		Structure: {3, 0, 4}, CraftedPositive: {3, 0, 1}, Positive: {4, 1, 3},
		CraftedNegative: {3, 0, 2}, Benign: {3, 4, 5}, BenignPair: {3, 4, 2},
	}
	hm := func(m ICSOptions) Defense {
		o := hmOptions(t, Paper)
		o.ICS = m
		return newHM(t, o)
	}
	act := func(m ICSOptions) Defense {
		o := ACTOptions{PGD: small(Training()), Mix: m}
		d, err := NewACT(o)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	for name, rows := range of {
		made := map[string]func(ICSOptions) Defense{"hm": hm, "act": act}
		if slices.Contains(rows[:], 0) { // ACT crafts no anchor
			delete(made, "act")
			if _, err := NewACT(ACTOptions{PGD: small(Training()), Mix: ICSOptions{Triplet: name, Lambda: 1}}); err == nil {
				t.Errorf("act takes triplet %s", name)
			}
		}
		for who, make := range made {
			m, in := scene(26, n)
			in.Tuples = someTriplets(n)
			d := make(ICSOptions{Triplet: name, Lambda: 0.7, Margin: 0.2})
			out, _, err := d.Craft(m, in, 1, 1)
			if err != nil {
				t.Fatal(err)
			}
			roles := 5
			if name == Benign {
				roles = 6
			}
			if out.Images.Rows() != roles*n || len(out.Tuples.Triplets) != n {
				t.Fatalf("%s %s: %d rows, %d triplets", who, name, out.Images.Rows(), len(out.Tuples.Triplets))
			}
			for i, x := range in.Tuples.Triplets {
				for role, r := range []int32{x.A, x.P, x.N}[:roles-3] {
					if !slices.Equal(out.Images.Row((3+role)*n+i), in.Images.Row(int(r))) || out.IDs[(3+role)*n+i] != in.IDs[r] {
						t.Fatalf("%s %s: benign role %d of triplet %d is another image", who, name, role, i)
					}
				}
			}
			z := embeddings(9, roles*n, 4)
			value := func() float64 {
				sum := 0.0
				for i := range n {
					x, y, w := wide(z.Row(rows[0]*n+i)), wide(z.Row(rows[1]*n+i)), wide(z.Row(rows[2]*n+i))
					near, _ := plainDistance(x, y, 0)
					far, _ := plainDistance(x, w, 0)
					sum += 0.7 / n * math.Max(0, near-far+0.2)
				}
				return sum
			}
			dz := array.New(roles*n, 4)
			for i := range dz.Data {
				dz.Data[i] = 1
			}
			if got, err := d.Penalty(out, z, dz); err != nil || math.Abs(got-value()) > 1e-12 || got == 0 {
				t.Fatalf("%s %s: %v (%v), want %v", who, name, got, err, value())
			}
			for i, old := range z.Data {
				const h = 1.0 / 4096
				z.Data[i] = old + h
				up := value()
				z.Data[i] = old - h
				want := (up - value()) / (float64(old+h) - float64(old-h))
				z.Data[i] = old
				if got := float64(dz.Data[i]) - 1; math.Abs(got-want) > 1e-4 {
					t.Fatalf("%s %s: gradient %d is %v, differences give %v", who, name, i, got, want)
				}
			}
			if _, err := d.Penalty(out, embeddings(1, 3*n, 4), array.New(3*n, 4)); err == nil {
				t.Errorf("%s %s: three rows a triplet were accepted", who, name)
			}
		}
	}
}
