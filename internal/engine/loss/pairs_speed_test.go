package loss

import (
	"testing"

	"tercet/internal/engine/array"
	"tercet/internal/rng"
)

func BenchmarkPairs(b *testing.B) {
	r := rng.New(5, "pairs")
	ts := &Tuples{}
	for i := range int32(128) {
		ts.Pairs = append(ts.Pairs, Pair{2 * i, 2*i + 1, i%2 == 0})
	}
	for _, c := range []pairCase{contrastiveCase(ContrastiveDefaults()), cosineCase(CosineDefaults())} {
		b.Run(c.name[:6], func(b *testing.B) {
			z := random(r, 256, 200, 0.02)
			grad := array.New(256, 200)
			l, err := c.make()
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := l.Eval(z, ts, grad); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
