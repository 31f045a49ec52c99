package attack

import (
	"math"
	"testing"

	"tercet/internal/attack/retrieval"
	"tercet/internal/engine/array"
	"tercet/internal/rng"
)

// unitCloud draws n points of length 1 around ten centers, as embeddings are.
func unitCloud(seed uint64, n, d int) (*array.Array, []int32) {
	r := rng.New(seed, "unit cloud")
	centers := array.New(10, d)
	for i := range centers.Data {
		centers.Data[i] = float32(r.NormFloat64())
	}
	x, labels := array.New(n, d), make([]int32, n)
	for i := range n {
		labels[i] = int32(i % 10)
		s := 0.0
		for k := range x.Row(i) {
			v := float64(centers.Row(i % 10)[k]) + 0.5*r.NormFloat64()
			x.Row(i)[k] = float32(v)
			s += v * v
		}
		for k := range x.Row(i) {
			x.Row(i)[k] /= float32(math.Sqrt(s))
		}
	}
	return x, labels
}

// One step of an attack, without the network: 128 queries in 10,000 items of 512
// numbers. Start is making the targets and what depends on them alone.
func BenchmarkStep(b *testing.B) {
	const n, d, batch = 10000, 512, 128
	x, labels := unitCloud(1, n, d)
	g := mustGallery(b, x, labels)
	z, _ := unitCloud(2, batch, d)
	items := make([]int, batch)
	for i := range items {
		items[i] = i
	}
	clean := x.Slice(0, batch)
	grad, per := array.New(batch, d), make([]float64, batch)
	for _, name := range []string{"CA+", "CA-", "QA+", "QA-", "GTT", "SPQA+"} {
		m, err := NewMethod(name, g, Fixed, MethodOptions{Seed: 1})
		if err != nil {
			b.Fatal(err)
		}
		start := func() {
			if err := m.Aim(&Batch{Items: items, Clean: clean}, 0); err != nil {
				b.Fatal(err)
			}
			if err := m.Eval(z, per, grad); err != nil {
				b.Fatal(err)
			}
		}
		start()
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if err := m.Eval(z, per, grad); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(name+" start", func(b *testing.B) {
			for b.Loop() {
				start()
			}
		})
	}
	// Near its goal few hinges are active.
	m := newQABench(b, g, items, clean)
	b.Run("QA+ nearly done", func(b *testing.B) {
		for b.Loop() {
			if err := m.Eval(z, per, grad); err != nil {
				b.Fatal(err)
			}
		}
	})
	out := make([]float32, batch*n)
	b.Run("Distances", func(b *testing.B) {
		for b.Loop() {
			g.Distances(z, out)
		}
	})
	b.Run("Distances of the gallery", func(b *testing.B) {
		for b.Loop() {
			g.Distances(clean, out)
		}
	})
}

// newQABench returns QA+ whose candidates rank 100th for the queries of another
// cloud.
func newQABench(b *testing.B, g *retrieval.Gallery, items []int, clean *array.Array) Method {
	m, err := newQA("QA+", true, g, Fixed, MethodOptions{})
	if err == nil {
		err = m.Aim(&Batch{Items: items, Clean: clean}, 0)
	}
	if err != nil {
		b.Fatal(err)
	}
	z, _ := unitCloud(2, len(items), g.X.Cols())
	var w retrieval.Windows
	w.Find(g, z, 100)
	for i := range items {
		m.goal.targets[i] = w.Items[i][99]
	}
	return m
}
