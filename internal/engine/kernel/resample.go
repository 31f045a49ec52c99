package kernel

//go:generate go run -C _generate ./vector -family resample -out ../resample_amd64.s -go ../resample_stubs.go -pkg kernel

import "sort"

// Taps say how each output of a row is summed from inputs: their weights are integers with
// 22 bits below the point.
type Taps struct {
	first  []int32   // first input of each output; they do not fall
	weight [][]int32 // of the inputs from there on
	groups int       // of four inputs, for the longest
	spread []int32   // (outputs, groups, 16): weight j of a group in the places 3j to 3j+2
}

// NewTaps makes taps of the first input and the weights of each output. It keeps the
// slices. The firsts must not fall.
func NewTaps(first []int32, weight [][]int32) *Taps {
	t := &Taps{first: first, weight: weight}
	for _, w := range weight {
		t.groups = max(t.groups, (len(w)+3)/4)
	}
	t.spread = make([]int32, len(first)*t.groups*16)
	for i, ws := range weight {
		for j, w := range ws {
			at := t.spread[16*(i*t.groups+j/4)+3*(j%4):]
			at[0], at[1], at[2] = w, w, w
		}
	}
	return t
}

// Outputs returns how many there are.
func (t *Taps) Outputs() int { return len(t.first) }

// Of returns the first input of output i and the weights from there on.
func (t *Taps) Of(i int) (first int, weight []int32) { return int(t.first[i]), t.weight[i] }

// ResampleRow writes the outputs of one row of RGB pixels to dst: sums of 32 bits, from
// half a unit on, shifted by 22 and clipped: the same at each level. src begins with the
// row; what follows the row in it is read by some levels and changes nothing.
func ResampleRow(dst, src []uint8, t *Taps) {
	n := len(t.first)
	dst = dst[:3*n]
	// Vectors read up to 16 bytes for a group, and write one byte too many.
	fits := sort.Search(n-1, func(i int) bool { return 3*int(t.first[i])+12*t.groups+4 > len(src) })
	if l := Current(); assembly && l != Generic && fits > 0 && t.groups > 0 {
		resampleRowAsm(l, fits, t.groups, &t.first[0], &t.spread[0], &src[0], &dst[0])
	} else {
		fits = 0
	}
	resampleRowGeneric(fits, t, src, dst)
}

// ResampleColumns sums rows of src, stride bytes from one to the next, by the weights, and
// writes len(dst) numbers: sums as in ResampleRow.
func ResampleColumns(dst, src []uint8, stride int, weight []int32) {
	if len(dst) == 0 || len(weight) == 0 {
		return
	}
	_ = src[(len(weight)-1)*stride+len(dst)-1]
	if l := Current().within(len(dst)); assembly && l != Generic {
		resampleColumnsAsm(l, len(dst), len(weight), stride, &weight[0], &src[0], &dst[0])
	} else {
		resampleColumnsGeneric(dst, src, stride, weight)
	}
}

const resampleHalf = 1 << 21

func clipped(sum int32) uint8 { return uint8(min(max(sum>>22, 0), 255)) }

func resampleRowGeneric(from int, t *Taps, src, dst []uint8) {
	for i := from; i < len(t.first); i++ {
		r, g, b := int32(resampleHalf), int32(resampleHalf), int32(resampleHalf)
		p := src[3*t.first[i]:]
		for j, w := range t.weight[i] {
			q := p[3*j : 3*j+3]
			r += int32(q[0]) * w
			g += int32(q[1]) * w
			b += int32(q[2]) * w
		}
		dst[3*i], dst[3*i+1], dst[3*i+2] = clipped(r), clipped(g), clipped(b)
	}
}

func resampleColumnsGeneric(dst, src []uint8, stride int, weight []int32) {
	for i := range dst {
		sum := int32(resampleHalf)
		for j, w := range weight {
			sum += int32(src[j*stride+i]) * w
		}
		dst[i] = clipped(sum)
	}
}
