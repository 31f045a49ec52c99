package kernel

import "golang.org/x/sys/cpu"

func above(l Level, rows, cols int, x []float32, ld int, a, b []float32, mask []uint64) {
	if assembly && l != Generic {
		aboveAsm(l, rows, cols/64, &x[0], ld, &a[0], &b[0], &mask[0])
	} else {
		aboveGeneric(rows, cols, x, ld, a, b, mask)
	}
}

func below(l Level, rows, cols int, x []float32, ld int, a, b []float32, mask []uint64) {
	if assembly && l != Generic {
		belowAsm(l, rows, cols/64, &x[0], ld, &a[0], &b[0], &mask[0])
	} else {
		belowGeneric(rows, cols, x, ld, a, b, mask)
	}
}

func leastKeys(level Level, l *LeastKeys) {
	if assembly && level != Generic {
		leastKeysAsm(level, l.Rows, l.Cols/64, &l.X[0], l.LD, &l.B[0], &l.Old[0], &l.Index[0], &l.Value[0], &l.Moved[0])
	} else {
		leastKeysGeneric(l)
	}
}

func nearer(x, norm []float32, own float32, nearest, out []float32, sums *[SumLanes]float64) {
	if l := Current(); assembly && l != Generic {
		nearerAsm(l, len(x)/SumLanes, &x[0], &norm[0], own, &nearest[0], &out[0], &sums[0])
	} else {
		nearerGeneric(x, norm, own, nearest, out, sums)
	}
}

func countKeys(x []float32, stride int, scale, add []float32, limit float32, cuts []float32, vectors int, c *KeyCounts) int {
	panels := len(scale) / PanelRows
	if l := Current(); assembly && l != Generic {
		return countKeysAsm(l, panels, &x[0], stride, &scale[0], &add[0], limit, vectors, &cuts[0], &c.Below[0], &c.AtMost[0], &c.keys[0])
	}
	return countKeysGeneric(x, stride, scale, add, limit, cuts, vectors, c)
}

func hasByteDots(l Level) bool { return l == AVX512 && cpu.X86.HasAVX512VNNI }

func byteTile(rows, k int, a, b []uint32, start []int32, scale, add, by, out []float32, ld int) {
	if !assembly || !hasByteDots(Current()) {
		byteTileGeneric(rows, k, a, b, start, scale, add, by, out, ld)
		return
	}
	_, _ = a[rows*k-1], b[k*PanelRows-1]
	_, _, _, _ = start[rows-1], scale[rows-1], add[rows-1], by[PanelRows-1]
	_ = out[(rows-1)*ld+PanelRows-1]
	byteTileVNNI(rows, k, &a[0], k, &b[0], &start[0], &scale[0], &add[0], &by[0], &out[0], ld)
}

func dot32(a, b []float32) float32 {
	if l := Current(); assembly && l != Generic {
		return product32Asm(l, len(a)/32, &a[0], &b[0])
	}
	return dot32Generic(a, b)
}

// quantize rounds whole blocks of 16 numbers and returns how many.
func quantize(x []float32, inverse float32, out []uint32, sums *[64]float32) int {
	blocks := len(x) / 16
	if !assembly || Current() != AVX512 || blocks == 0 {
		return 0
	}
	_ = out[4*blocks-1]
	quantizeAVX512(blocks, &x[0], inverse, &out[0], &sums[0])
	return 16 * blocks
}
