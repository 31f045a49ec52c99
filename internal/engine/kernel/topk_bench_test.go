package kernel_test

import (
	"math/rand/v2"
	"testing"

	"tercet/internal/engine/kernel"
)

// Products of 140 rows with 256, 512 numbers each, as searches form them.
func BenchmarkBlockOfProducts(b *testing.B) {
	const m, n, d = 140, 256, 512
	x := normal(rand.New(rand.NewPCG(1, 20)), make([]float32, (m+n)*d))
	out, mask := make([]float32, m*n), make([]uint64, m*n/64)
	report := func(b *testing.B) {
		b.ReportMetric(2*m*n*d*float64(b.N)/1e9/b.Elapsed().Seconds(), "GFLOP/s")
	}
	b.Run("float32", func(b *testing.B) {
		var p kernel.PackedRows
		p.Pack(n, d, x[m*d:])
		for b.Loop() {
			p.Dots(m, x, d, 0, n, 1, out, n)
		}
		report(b)
	})
	b.Run("bytes", func(b *testing.B) {
		if !kernel.HasByteDots() {
			b.Skip("no products of bytes on this processor")
		}
		var r kernel.ByteRows
		var c kernel.ByteColumns
		r.Quantize(m+n, d, x)
		c.Pack(&r, m, m+n)
		for b.Loop() {
			c.Bounds(1, &r, 0, m, 0, n, out, n, nil)
		}
		report(b)
	})
	b.Run("masks", func(b *testing.B) {
		for b.Loop() {
			kernel.Above(m, n, out, n, out[:m], out[:n], mask)
		}
		report(b)
	})
}
