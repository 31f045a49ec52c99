package asm

import (
	"strings"

	. "github.com/mmcloughlin/avo/build"
)

var described = map[string]string{}

// Func begins the function name of a level, with its parameters and results as they stand
// in Go between "func(" and the last ")". doc continues its name: what it does, a Go loop.
// A level whose function has the text of another's refers to that.
func Func(name, level, signature string, doc ...string) {
	TEXT(name+level, NOSPLIT, "func("+signature+")")
	text := name + "\n" + strings.Join(doc, "\n")
	if other, ok := described[text]; ok {
		doc = []string{"does what " + other + " does."}
	} else {
		described[text] = name + level
	}
	doc[0] = name + level + " " + doc[0]
	Doc(doc...)
	Pragma("noescape")
}

// End returns from a function that used vectors.
func End() {
	VZEROUPPER()
	RET()
}
