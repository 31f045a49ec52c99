// Command gemm writes gemm_amd64.s of package kernel: the tiles of matrix
// products and the transposition. Run it by go generate in package kernel.
package main

import (
	"tercet/internal/engine/kernel/_generate/asm"
)

func main() {
	for _, s := range []shape{avx512(2), avx512(1), avx512Half(), avx2(2), avx2(1)} {
		s.tile()
	}
	transpose()
	pack()
	packPanels("pack16AVX2", 1)
	packPanels("pack64AVX2", 4)
	cpuid()
	avx512(1).peak()
	avx512(1).peakBF16()
	avx2(1).peak()
	asm.Write()
}
