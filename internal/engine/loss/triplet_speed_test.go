package loss

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"tercet/internal/engine/array"
	"tercet/internal/rng"
)

// allTriplets lists the triplets of a batch of that many rows in the given number
// of classes, as batch-all does.
func allTriplets(rows, classes int) []Triplet {
	var out []Triplet
	for a := range rows {
		for p := range rows {
			for n := range rows {
				if a != p && a%classes == p%classes && a%classes != n%classes {
					out = append(out, Triplet{int32(a), int32(p), int32(n)})
				}
			}
		}
	}
	return out
}

// Looked-up distances serve lists in and out of the order of anchors, and agree
// with measured ones: the same triplets in a batch padded with rows that none uses.
func TestTripletTableAgreesWithEdges(t *testing.T) {
	r := rng.New(7, "loss")
	const rows, cols = 12, 33
	z := random(r, rows, cols, 0.2)
	copy(z.Row(3), z.Row(7))
	wide := array.New(200, cols)
	copy(wide.Data, z.Data)
	ordered := allTriplets(rows, 3)
	shuffled := append([]Triplet(nil), ordered...)
	r.Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
	each(func(o TripletOptions) {
		eval := func(z *array.Array, list []Triplet) (Result, *array.Array) {
			grad := array.New(z.Rows(), cols)
			res, err := make1(t, o).Eval(z, &Tuples{Triplets: list}, grad)
			if err != nil {
				t.Fatal(err)
			}
			return res, grad
		}
		if crowded(2*len(ordered), 200) || !crowded(2*len(ordered), rows) {
			t.Fatal("both lists take one way")
		}
		want, grad := eval(wide, ordered)
		for _, list := range [][]Triplet{ordered, shuffled} {
			got, g := eval(z, list)
			if math.Abs(got.Loss-want.Loss) > 1e-11*(1+want.Loss) || got.Active != want.Active || got.Tuples != want.Tuples ||
				math.Abs(got.Positive-want.Positive) > 1e-12 || math.Abs(got.Negative-want.Negative) > 1e-12 {
				t.Fatalf("%+v: %+v, want %+v", o, got, want)
			}
			for i, v := range g.Data {
				if d := math.Abs(float64(v - grad.Data[i])); d > 1e-5*(1+math.Abs(float64(v))) {
					t.Fatalf("%+v: gradient %d is %v, want %v", o, i, v, grad.Data[i])
				}
			}
		}
	})
	l := make1(t, TripletDefaults())
	bad := append(append([]Triplet(nil), ordered...), Triplet{0, 1, 12})
	if _, err := l.Eval(z, &Tuples{Triplets: bad}, nil); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("triplet %d (a 0, p 1, n 12): row 12 is outside the batch of 12", len(ordered))) {
		t.Error(err)
	}
	z.Row(5)[0] = float32(math.Inf(1))
	if _, err := l.Eval(z, &Tuples{Triplets: ordered}, nil); !errors.Is(err, ErrNonFinite) {
		t.Error(err)
	}
}

func BenchmarkTriplet(b *testing.B) {
	r := rng.New(5, "loss")
	z := random(r, 256, 512, 0.05)
	grad := array.New(256, 512)
	ts := &Tuples{Triplets: randomTriplets(r, 256, 128)}
	l, err := NewTriplet(TripletDefaults())
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := l.Eval(z, ts, grad); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkTripletBatchAll(b *testing.B) {
	for _, s := range []struct{ rows, classes int }{{80, 10}, {256, 32}, {384, 10}} {
		b.Run(fmt.Sprintf("%d", s.rows), func(b *testing.B) {
			z := random(rng.New(5, "loss"), s.rows, 512, 0.05)
			grad := array.New(s.rows, 512)
			ts := &Tuples{Triplets: allTriplets(s.rows, s.classes)}
			l, err := NewTriplet(TripletDefaults())
			if err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				if _, err := l.Eval(z, ts, grad); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(len(ts.Triplets)), "triplets")
		})
	}
}
