package kernel

import (
	"fmt"

	"tercet/internal/engine/pages"
	"tercet/internal/par"
)

// Packed is a matrix B (k, n) in the order in which products read it, for a B
// that many products share. It belongs to the level that packed it: products with
// it run on that level.
type Packed struct {
	K, N  int
	level Level
	data  []float32
}

// Pack packs op(B) (k, n), stored as Gemm's.
func Pack(trans bool, k, n int, b []float32, ldb int) *Packed {
	if k < 1 || n < 1 {
		panic(fmt.Sprintf("kernel: Pack of (%d, %d)", k, n))
	}
	p := &Packed{K: k, N: n, level: Current()}
	if p.level.splits(k) {
		p.data = packSplit(k, n, operand("B", trans, k, n, b, ldb))
		return p
	}
	s := p.level.shape()
	columns := columnRun(s, n)
	last := (n - 1) / columns * columns
	p.data = pages.Make[float32](max(8192, (last+s.packedCols(n-last))*k)) // at least 32 KiB: aligned to a page
	g := gemmJob{product: product{n: n, k: k, b: operand("B", trans, k, n, b, ldb)}, level: p.level, kc: kRun(k)}
	g.runs = ceilDiv(k, g.kc)
	for g.j = 0; g.j < n; g.j += columns {
		g.cols = min(columns, n-g.j)
		g.panels, g.stride = ceilDiv(g.cols, s.wide), s.packedCols(g.cols)
		g.packed = p.data[g.j*k:]
		par.Do(g.panels, p.level.packedAtOnce(), (*gemmPack)(&g))
	}
	return p
}

// Gemm computes C = alpha*A*B + beta*C for A (m, k) and C (m, n), rows lda and ldc
// apart: bit for bit what Gemm computes on p's level.
func (p *Packed) Gemm(m int, alpha float32, a []float32, lda int, beta float32, c []float32, ldc int) {
	if !checkGemm(m, p.N, p.K, c, ldc) {
		return
	}
	if alpha == 0 {
		scaleMatrix(beta, m, p.N, c, ldc)
		return
	}
	gemm(p.level, product{
		m: m, n: p.N, k: p.K, alpha: alpha, a: operand("A", false, m, p.K, a, lda), ready: p.data,
		beta: beta, c: c, ldc: ldc,
	})
}

// GemmBias is the function GemmBias with B packed, bit for bit.
func (p *Packed) GemmBias(m int, a []float32, lda int, bias []float32, relu bool, c []float32, ldc int) {
	if bias != nil && len(bias) != p.N {
		panic(fmt.Sprintf("kernel: GemmBias: %d columns, bias of %d", p.N, len(bias)))
	}
	if !checkGemm(m, p.N, p.K, c, ldc) {
		return
	}
	gemm(p.level, product{
		m: m, n: p.N, k: p.K, alpha: 1, a: operand("A", false, m, p.K, a, lda), ready: p.data,
		c: c, ldc: ldc, bias: bias, relu: relu,
	})
}
