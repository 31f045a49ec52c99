package kernel

//go:generate go run -C _generate ./vector -family chroma -out ../chroma_amd64.s -go ../chroma_stubs.go -pkg kernel

// ChromaRow writes a row of twice as many samples, 2*len(near), between those of the
// nearer row and, in the other direction, the farther one: with t = 3 near + far,
// (3 t + t of the left + even) >> 4 and (3 t + t of the right + odd) >> 4, where the ends
// are their own neighbors. The same at each level.
func ChromaRow(dst, near, far []uint8, even, odd int) {
	n := len(near)
	dst, far = dst[:2*n], far[:n]
	if n == 0 {
		return
	}
	inner := max(n-2, 0) &^ 15 // columns 1 to inner are done
	if assembly && Current() != Generic && inner > 0 {
		chromaRowAVX2(inner, &near[1], &far[1], even, odd, &dst[2])
	} else {
		inner = 0
	}
	chromaRowGeneric(dst, near, far, even, odd, 0, 1)
	chromaRowGeneric(dst, near, far, even, odd, inner+1, n)
}

func chromaRowGeneric(dst, near, far []uint8, even, odd, from, to int) {
	t := func(i int) int { return 3*int(near[i]) + int(far[i]) }
	for i := from; i < to; i++ {
		at := t(i)
		dst[2*i] = uint8((3*at + t(max(i-1, 0)) + even) >> 4)
		dst[2*i+1] = uint8((3*at + t(min(i+1, len(near)-1)) + odd) >> 4)
	}
}

// YCbCrRow writes len(y) RGB pixels by the formula and the rounding of libjpeg: integers
// with 16 bits below the point. The same at each level.
func YCbCrRow(dst, y, cb, cr []uint8) {
	n := len(y)
	dst, cb, cr = dst[:3*n], cb[:n], cr[:n]
	done := max(n-3, 0) &^ 7 // the last vector writes 8 bytes too many
	if assembly && Current() != Generic && done > 0 {
		ycbcrRowAVX2(done, &y[0], &cb[0], &cr[0], &dst[0])
	} else {
		done = 0
	}
	for i := done; i < n; i++ {
		l, u, v := int32(y[i]), int32(cb[i])-128, int32(cr[i])-128
		dst[3*i] = channel(l + (91881*v+32768)>>16)
		dst[3*i+1] = channel(l + (-22554*u-46802*v+32768)>>16)
		dst[3*i+2] = channel(l + (116130*u+32768)>>16)
	}
}

func channel(v int32) uint8 { return uint8(min(max(v, 0), 255)) }
