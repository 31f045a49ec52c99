// Command generate writes the assembly of package kernel, gemm_amd64.s, and its
// Go declarations, gemm_amd64.go. Run it by go generate in package kernel.
package main

import (
	. "github.com/mmcloughlin/avo/build"
)

func main() {
	ConstraintExpr("amd64")
	ConstraintExpr("!noasm")
	for _, s := range []shape{avx512(2), avx512(1), avx2(2), avx2(1)} {
		s.tile()
	}
	transpose()
	Generate()
}
