package kernel

import (
	"math"
	"unsafe"
)

// A float32 is the sum of three parts of bfloat16, of 8 bits each. The product of two is
// made of the six largest of the nine products of their parts, each exact in float32:
//
//	a*b = a1*b1 + (a1*b2 + a2*b1) + (a1*b3 + a2*b2 + a3*b1)
//
// What is left out is at most 2^-24 of the product, as what rounding a product to float32
// loses. Numbers below 2^-102 in magnitude lose digits, those below 2^-126 count as 0; an
// infinity, or a number from 2^128*(1 - 2^-9) on, makes NaN of the sums that hold it.

const (
	splitParts = 3
	// splitBlock is the extent of a strip of A, of a panel of B and of a step of k.
	splitBlock = 32
	// splitStep is the room for a step of a strip or a panel, in numbers of 4 bytes:
	// part by part, two tiles of 1 KiB each.
	splitStep = splitParts * 512
)

// partsOf cuts x: its first 8 bits, rounded, then those of the rest, then what is left.
func partsOf(x float32) (parts [splitParts]uint16) {
	for i := range parts {
		bits := math.Float32bits(x)
		if i < splitParts-1 {
			bits += 0x8000
		}
		parts[i] = uint16(bits >> 16)
		x -= math.Float32frombits(bits &^ 0xffff)
	}
	return parts
}

// splitArgs are blocks of C (rows, cols) and a share of the steps that they are sums of: A as
// splitRows cuts it, strips of 32 rows one after the other, and B as splitColumns does, panels
// of 32 columns. Shares but the first begin with the sums of those before, shares but the last
// leave them, unrounded, so that the shares decide no bit.
type splitArgs struct {
	steps, rows, cols int
	a, b              *float32
	load, store       bool     // not the first share; not the last
	sums              *float32 // whole blocks, rows lds apart; may be C itself
	lds               int
	c                 *float32 // written by the last share
	ldc               int      // numbers
	alpha, beta       float32
	bias              *float32 // nil, or cols numbers
	relu              bool
	plain             bool     // alpha is 1, beta 0, and there is no bias or ReLU
	block             *float32 // room for 1024 numbers

	// Of each panel, four rows of 128 bytes in each step are asked for from here on, for the
	// operand that is cut next: rows, steps, and the rows of a panel these bytes apart.
	ahead               *float32
	aheadRow, aheadStep int
}

// multiplySplit points t at the beginnings of its operands and computes it, after checking
// that it stays within them.
func multiplySplit(t *splitArgs, a, b, sums, c, block []float32) {
	if t.steps < 1 || t.rows < 1 || t.cols < 1 || t.ldc < 0 || t.lds < 0 {
		panic("kernel: split product: negative size or stride")
	}
	_ = a[ceilDiv(t.rows, splitBlock)*t.steps*splitStep-1]
	_ = b[ceilDiv(t.cols, splitBlock)*t.steps*splitStep-1]
	_ = block[splitBlock*splitBlock-1]
	t.a, t.b, t.block = &a[0], &b[0], &block[0]
	if t.load || t.store {
		_ = sums[(roundUp(t.rows, splitBlock)-1)*t.lds+roundUp(t.cols, splitBlock)-1]
		t.sums = &sums[0]
	}
	if !t.store {
		_ = c[(t.rows-1)*t.ldc+t.cols-1]
		t.c = &c[0]
	}
	t.plain = t.alpha == 1 && t.beta == 0 && t.bias == nil && !t.relu
	if assembly && hasTilesBF16 {
		tilesSplit(t)
		return
	}
	tilesSplitGeneric(t)
}

// splitRows cuts up to 32 rows of k numbers, rs apart, as a strip of A. Word w of a step is
// its numbers w and w+16. Numbers beyond k become 0; rows beyond rows are not written.
func splitRows(rows, k int, src []float32, rs int, dst []float32) {
	_ = src[(rows-1)*rs+k-1]
	_ = dst[ceilDiv(k, splitBlock)*splitStep-1]
	if assembly && hasTilesBF16 {
		splitRowsAVX512(rows, k, &src[0], rs, &dst[0])
		return
	}
	splitRowsGeneric(rows, k, src, rs, dst)
}

// splitColumns cuts a panel of up to 32 columns of steps*32 rows, rs apart. Rows w and w+16
// of a step are row w of its tiles. Columns beyond cols become 0.
func splitColumns(steps, cols int, src []float32, rs int, dst []float32) {
	_ = src[(steps*splitBlock-1)*rs+cols-1]
	_ = dst[steps*splitStep-1]
	if assembly && hasTilesBF16 {
		splitColumnsAVX512(steps, cols, &src[0], rs, &dst[0])
		return
	}
	splitColumnsGeneric(steps, cols, src, rs, dst)
}

func splitRowsGeneric(rows, k int, src []float32, rs int, dst []float32) {
	words := unsafe.Slice((*[2]uint16)(unsafe.Pointer(&dst[0])), len(dst))
	for i := range rows {
		for o := range ceilDiv(k, splitBlock) {
			for p := range splitBlock {
				var parts [splitParts]uint16
				if at := o*splitBlock + p; at < k {
					parts = partsOf(src[i*rs+at])
				}
				for part, v := range parts {
					words[o*splitStep+part*512+i*16+p%16][p/16] = v
				}
			}
		}
	}
}

func splitColumnsGeneric(steps, cols int, src []float32, rs int, dst []float32) {
	words := unsafe.Slice((*[2]uint16)(unsafe.Pointer(&dst[0])), len(dst))
	for o := range steps {
		for p := range splitBlock {
			for j := range splitBlock {
				var parts [splitParts]uint16
				if j < cols {
					parts = partsOf(src[(o*splitBlock+p)*rs+j])
				}
				for part, v := range parts {
					words[o*splitStep+part*512+j/16*256+p%16*16+j%16][p/16] = v
				}
			}
		}
	}
}

// splitOrder is the order in which products of parts are added to the sum of a step.
var splitOrder = [...][2]int{{2, 0}, {1, 0}, {1, 1}, {0, 1}, {0, 0}, {0, 2}}

// tilesSplitGeneric is tilesSplit in plain Go, with its bits but those of NaN.
func tilesSplitGeneric(t *splitArgs) {
	strips, panels := ceilDiv(t.rows, splitBlock), ceilDiv(t.cols, splitBlock)
	a := unsafe.Slice((*[2]uint16)(unsafe.Pointer(t.a)), strips*t.steps*splitStep)
	b := unsafe.Slice((*[2]uint16)(unsafe.Pointer(t.b)), panels*t.steps*splitStep)
	for i := range t.rows {
		for j := range t.cols {
			s := float32(0)
			if t.load {
				s = flush(*t.sum(i, j))
			}
			for o := range t.steps {
				row := a[(i/splitBlock*t.steps+o)*splitStep+i%splitBlock*16:]
				col := b[(j/splitBlock*t.steps+o)*splitStep+j%splitBlock/16*256+j%16:]
				for _, p := range splitOrder {
					var chains [2]float32
					for w := range 16 {
						x, y := row[p[0]*512+w], col[p[1]*512+w*16]
						for h := range chains {
							chains[h] = fmaFlush(bf16Value(x[h]), bf16Value(y[h]), chains[h])
						}
					}
					s = addFlush(s, addFlush(chains[0], chains[1]))
				}
			}
			if t.store {
				*t.sum(i, j) = s
			} else {
				t.finish(i, j, s)
			}
		}
	}
}

// sum is an element of the sums, which there are only to load or store.
func (t *splitArgs) sum(i, j int) *float32 {
	return (*float32)(unsafe.Add(unsafe.Pointer(t.sums), 4*(i*t.lds+j)))
}

// finish makes an element of C of its sum.
func (t *splitArgs) finish(i, j int, s float32) {
	c := (*float32)(unsafe.Add(unsafe.Pointer(t.c), 4*(i*t.ldc+j)))
	v := t.alpha * s
	if t.beta != 0 {
		v = float32(math.FMA(float64(t.beta), float64(*c), float64(v)))
	}
	if t.bias != nil {
		v += unsafe.Slice(t.bias, t.cols)[j]
	}
	if t.relu && v <= 0 {
		v = 0
	}
	*c = v
}
