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
}

func main() {
	family := flag.String("family", "", "elementwise, columns, pool, reduce, update, explog, hinges, pixels, resample, chroma or tokens")
	flag.Parse()
	emit, ok := families[*family]
	if !ok {
		fmt.Fprintf(os.Stderr, "vector: no family %q\n", *family)
		os.Exit(2)
	}
	switch *family {
	case "pixels", "resample", "chroma": // they have no masks
	default:
		tables()
	}
	emit()
	asm.Write()
}
