package kernel

import (
	"fmt"
	"math"
)

// LeastKeys is the choice of the nearest of several centers for many points at
// once: Rows keys (x plus b) for each of Cols points, a multiple of 64.
type LeastKeys struct {
	Rows, Cols int
	X          []float32 // (Rows, Cols), rows LD apart
	LD         int
	B          []float32 // (Rows): added to each key of the row
	Old        []int32   // (Cols): the choices before
	Index      []int32   // (Cols): the row of the least key, the first of equals
	Value      []float32 // (Cols): the least key
	Moved      []uint64  // Cols bits: Index differs from Old
}

// Find fills in Index, Value and Moved. No key may be NaN.
func (l *LeastKeys) Find() {
	words := l.Cols / 64
	if l.Rows < 1 || words < 1 || l.Cols%64 != 0 || l.LD < l.Cols {
		panic(fmt.Sprintf("kernel: least of (%d, %d) keys, stride %d", l.Rows, l.Cols, l.LD))
	}
	_, _ = l.X[(l.Rows-1)*l.LD+l.Cols-1], l.B[l.Rows-1]
	_, _, _, _ = l.Old[l.Cols-1], l.Index[l.Cols-1], l.Value[l.Cols-1], l.Moved[words-1]
	if level := Current(); assembly && level != Generic {
		leastKeysAsm(level, l.Rows, words, &l.X[0], l.LD, &l.B[0], &l.Old[0], &l.Index[0], &l.Value[0], &l.Moved[0])
		return
	}
	clear(l.Moved[:words])
	for j := range l.Cols {
		least, at := float32(math.Inf(1)), int32(0)
		for c := range l.Rows {
			if v := l.X[c*l.LD+j] + l.B[c]; v < least {
				least, at = v, int32(c)
			}
		}
		if l.Old[j] != at {
			l.Moved[j/64] |= 1 << (j % 64)
		}
		l.Index[j], l.Value[j] = at, least
	}
}
