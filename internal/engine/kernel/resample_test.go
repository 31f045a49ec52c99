package kernel

import (
	"bytes"
	"math/rand/v2"
	"testing"
	"unsafe"
)

// fencedBytes are n bytes before a page that cannot be touched.
func fencedBytes(t *testing.T, r *rand.Rand, n int) []uint8 {
	f := fenced(t, (n+3)/4)
	b := unsafe.Slice((*uint8)(unsafe.Pointer(&f[0])), 4*len(f))
	b = b[len(b)-n:]
	for i := range b {
		b[i] = uint8(r.Uint32())
	}
	return b
}

// randomTaps are windows of up to most inputs that move over n inputs.
func randomTaps(r *rand.Rand, n, outputs, most int) *Taps {
	first, weight := make([]int32, outputs), make([][]int32, outputs)
	for i := range first {
		at := i * n / outputs
		first[i] = int32(at)
		weight[i] = make([]int32, 1+r.IntN(min(most, n-at)))
		for j := range weight[i] {
			weight[i][j] = int32(r.IntN(1<<23)) - 1<<21
		}
	}
	return NewTaps(first, weight)
}

// roundedSum is the definition, in 64 bits.
func roundedSum(weight []int32, at func(j int) uint8) uint8 {
	sum := int64(1 << 21)
	for j, w := range weight {
		sum += int64(w) * int64(at(j))
	}
	return uint8(min(max(int64(int32(sum))>>22, 0), 255))
}

// Rows and columns at every level are the sums, up to the last byte of a page and not
// beyond.
func TestResample(t *testing.T) {
	for _, l := range Levels() {
		restore, err := Force(l)
		if err != nil {
			t.Fatal(err)
		}
		r := rand.New(rand.NewPCG(5, uint64(l)))
		for k := range 150 {
			n, outputs, most := 1+r.IntN(40), 1+r.IntN(40), 1+r.IntN(14)
			taps := randomTaps(r, n, outputs, most)
			src, dst := fencedBytes(t, r, 3*n), fencedBytes(t, r, 3*outputs)
			if k%2 == 0 { // a row that is followed by others
				src = fencedBytes(t, r, 3*n+60)
			}
			ResampleRow(dst, src, taps)
			for i := range dst {
				first, weight := taps.Of(i / 3)
				if want := roundedSum(weight, func(j int) uint8 { return src[3*(first+j)+i%3] }); dst[i] != want {
					t.Fatalf("%s, %d inputs, %d outputs: output %d is %d, want %d", l, n, outputs, i, dst[i], want)
				}
			}
			width, rows := 1+r.IntN(70), 1+r.IntN(9)
			stride := width + r.IntN(5)
			_, weight := randomTaps(r, rows, 1, rows).Of(0)
			cols := fencedBytes(t, r, (len(weight)-1)*stride+width)
			sums := fencedBytes(t, r, width+1)
			last := sums[width]
			ResampleColumns(sums[:width], cols, stride, weight)
			for i := range width {
				if want := roundedSum(weight, func(j int) uint8 { return cols[j*stride+i] }); sums[i] != want {
					t.Fatalf("%s, %d rows of %d: column %d is %d, want %d", l, len(weight), width, i, sums[i], want)
				}
			}
			if sums[width] != last {
				t.Fatalf("%s wrote behind %d columns", l, width)
			}
		}
		before := []uint8{1, 2, 3}
		ResampleColumns(before[:0], nil, 0, []int32{1})
		ResampleRow(nil, nil, NewTaps(nil, nil))
		if !bytes.Equal(before, []uint8{1, 2, 3}) {
			t.Fatal("nothing became something")
		}
		restore()
	}
}
