// Command vector writes the assembly of the kernels that go once through
// memory, a file for each family. Run it by go generate in package kernel.
package main

import (
	"flag"
	"fmt"
	"os"

	"tercet/internal/engine/kernel/_generate/asm"
)

var families = map[string]func(){
	"elementwise": elementwise,
	"columns":     columns,
	"pool":        pool,
	"reduce":      reduce,
	"update":      update,
	"explog":      explog,
	"hinges":      hinges,
	"pixels":      pixels,
	"resample":    resample,
	"chroma":      chroma,
	"tokens":      tokens,
	"topk":        topk,
}

// topk emits filters of products for searches and clusterings.
func topk() {
	for _, s := range isas {
		s.compare("above", ">=", greaterEqual)
		s.compare("below", "<=", lessEqual)
		s.squares(32)
		s.squares(64)
		s.leastKeys()
		s.nearer()
		s.addRow(false)
		s.addRow(true)
		s.addScaled()
		s.addDifference()
		s.subtractFour()
		s.countKeys()
		s.product32()
		s.shiftRow()
	}
	pairProducts()
	nearPairs()
	countNear()
	byteTile()
	scaleBytes()
	quantize()
}

func main() {
	family := flag.String("family", "", "elementwise, columns, pool, reduce, update, explog, hinges, pixels, resample, chroma, tokens or topk")
	flag.Parse()
	emit, ok := families[*family]
	if !ok {
		fmt.Fprintf(os.Stderr, "vector: no family %q\n", *family)
		os.Exit(2)
	}
	switch *family {
	case "pixels", "resample", "chroma", "topk": // they have no masks
	default:
		tables()
	}
	emit()
	asm.Write()
}
