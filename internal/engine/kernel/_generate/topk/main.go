// Command topk writes topk_amd64.s of package kernel and its Go declarations:
// filters of products for searches and clusterings. Run it by go generate in
// package kernel.
package main

import (
	"tercet/internal/engine/kernel/_generate/asm"
)

func main() {
	for _, i := range []isa{avx512, avx2} {
		i.compare("above", ">=", greaterEqual)
		i.compare("below", "<=", lessEqual)
		i.squares(32)
		i.squares(64)
		i.leastKeys()
		i.nearer()
		i.accumulate(false)
		i.accumulate(true)
		i.addScaled()
		i.addDifference()
		i.subtractFour()
		i.countKeys()
		i.dot()
		i.shift()
	}
	byteTile()
	quantize()
	asm.Write()
}
