package kernel

import (
	"fmt"
	"math"
)

// LeastKeys is the choice of the nearest of several centres for many points at
// once: Rows keys (x plus b) for each of Cols points, a multiple of 64.
type LeastKeys struct {
	Rows, Cols int
	X          []float32 // (Rows, Cols), rows LD apart
	LD         int
	B          []float32 // (Rows): added to each key of the row
	// A point's least key is in doubt where another is within
	// Slope*Length[j] + Offset of it.
	Length        []float32
	Slope, Offset float32
	Old           []int32   // (Cols): the choices before
	Index         []int32   // (Cols): the row of the least key, the first of equals
	Value         []float32 // (Cols): the least key
	Near, Moved   []uint64  // Cols bits: in doubt; Index differs from Old
}

// Find fills in Index, Value, Near and Moved. No key may be NaN.
func (l *LeastKeys) Find() {
	words := l.Cols / 64
	if l.Rows < 1 || words < 1 || l.Cols%64 != 0 || l.LD < l.Cols {
		panic(fmt.Sprintf("kernel: least of (%d, %d) keys, stride %d", l.Rows, l.Cols, l.LD))
	}
	_, _ = l.X[(l.Rows-1)*l.LD+l.Cols-1], l.B[l.Rows-1]
	_, _, _ = l.Length[l.Cols-1], l.Old[l.Cols-1], l.Index[l.Cols-1]
	_, _, _ = l.Value[l.Cols-1], l.Near[words-1], l.Moved[words-1]
	leastKeys(Current(), l)
}

func leastKeysGeneric(l *LeastKeys) {
	inf := float32(math.Inf(1))
	clear(l.Near[:l.Cols/64])
	clear(l.Moved[:l.Cols/64])
	for j := range l.Cols {
		least, second, at := inf, inf, int32(0)
		for c := range l.Rows {
			v := l.X[c*l.LD+j] + l.B[c]
			second = min(second, max(least, v))
			if v < least {
				least, at = v, int32(c)
			}
		}
		if second <= least+(l.Slope*l.Length[j]+l.Offset) {
			l.Near[j/64] |= 1 << (j % 64)
		}
		if l.Old[j] != at {
			l.Moved[j/64] |= 1 << (j % 64)
		}
		l.Index[j], l.Value[j] = at, least
	}
}
