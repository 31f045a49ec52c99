package kernel

import "fmt"

//go:generate go run -C _generate ./vector -family topk -out ../topk_amd64.s -go ../topk_stubs.go -pkg kernel

// Above sets bit j of row i of mask, which has cols/64 words a row, where
// x[i*ld+j] >= b[j] - a[i] in float32, and clears it elsewhere, also where one
// of the numbers is NaN. cols is a multiple of 64.
func Above(rows, cols int, x []float32, ld int, a, b []float32, mask []uint64) {
	if rows < 1 || cols < 64 || cols%64 != 0 || ld < cols {
		panic(fmt.Sprintf("kernel: masks of (%d, %d), stride %d", rows, cols, ld))
	}
	x, a, b, mask = x[:(rows-1)*ld+cols], a[:rows], b[:cols], mask[:rows*cols/64]
	if l := Current(); assembly && l != Generic {
		aboveAsm(l, rows, cols/64, &x[0], ld, &a[0], &b[0], &mask[0])
		return
	}
	clear(mask)
	for i := range rows {
		words := mask[i*cols/64:]
		for j, v := range x[i*ld : i*ld+cols] {
			if v >= b[j]-a[i] {
				words[j/64] |= 1 << (j % 64)
			}
		}
	}
}

// Below is Above with x[i*ld+j] <= b[j] - a[i].
func Below(rows, cols int, x []float32, ld int, a, b []float32, mask []uint64) {
	if rows < 1 || cols < 64 || cols%64 != 0 || ld < cols {
		panic(fmt.Sprintf("kernel: masks of (%d, %d), stride %d", rows, cols, ld))
	}
	x, a, b, mask = x[:(rows-1)*ld+cols], a[:rows], b[:cols], mask[:rows*cols/64]
	if l := Current(); assembly && l != Generic {
		belowAsm(l, rows, cols/64, &x[0], ld, &a[0], &b[0], &mask[0])
		return
	}
	clear(mask)
	for i := range rows {
		words := mask[i*cols/64:]
		for j, v := range x[i*ld : i*ld+cols] {
			if v <= b[j]-a[i] {
				words[j/64] |= 1 << (j % 64)
			}
		}
	}
}
