package kernel

import "unsafe"

var genericShape = tileShape{rows: 4, wide: 4, narrow: 4}

// tilesGeneric computes the tiles of t.
func tilesGeneric(t *tileArgs) {
	u := *t
	for i := range max(t.tiles, 1) {
		u.a = &unsafe.Slice(t.a, i*t.stepa+1)[i*t.stepa]
		u.b = &unsafe.Slice(t.b, i*t.stepb+1)[i*t.stepb]
		u.c = &unsafe.Slice(t.c, i*t.stepc+1)[i*t.stepc]
		if t.bias != nil {
			u.bias = &unsafe.Slice(t.bias, i*t.stepbias+1)[i*t.stepbias]
		}
		tileGeneric(&u)
	}
}

// tileGeneric is the tile in plain Go, up to 4 by 4. Every element is one sum
// over outer and k in index order, whatever the rows and columns.
func tileGeneric(t *tileArgs) {
	o, p, i := t.outer-1, t.k-1, t.rows-1
	a := unsafe.Slice(t.a, o*t.nexta+i*t.rsa+p*t.csa+1)
	b := unsafe.Slice(t.b, o*t.nextb+p*t.rsb+t.cols)
	c := unsafe.Slice(t.c, i*t.ldc+t.cols)
	i = 0
	if t.cols == 4 {
		for ; i+2 <= t.rows; i += 2 {
			s, u := sumPair(t, a[i*t.rsa:], b)
			t.finishGeneric(c[i*t.ldc:], s)
			t.finishGeneric(c[(i+1)*t.ldc:], u)
		}
	}
	for ; i < t.rows; i++ {
		t.finishGeneric(c[i*t.ldc:], sumRow(t, a[i*t.rsa:], b))
	}
}

// sumPair keeps eight sums: with four of B and two of A they fit in the sixteen
// vector registers of amd64.
func sumPair(t *tileArgs, a, b []float32) (s, u [4]float32) {
	var s00, s01, s02, s03, s10, s11, s12, s13 float32
	a2 := a[t.rsa:]
	for o := range t.outer {
		ia, ib := o*t.nexta, o*t.nextb
		for range t.k {
			x, y := a[ia], a2[ia]
			v := b[ib : ib+4 : ib+4]
			ia += t.csa
			ib += t.rsb
			s00 += float32(x * v[0])
			s10 += float32(y * v[0])
			s01 += float32(x * v[1])
			s11 += float32(y * v[1])
			s02 += float32(x * v[2])
			s12 += float32(y * v[2])
			s03 += float32(x * v[3])
			s13 += float32(y * v[3])
		}
	}
	return [4]float32{s00, s01, s02, s03}, [4]float32{s10, s11, s12, s13}
}

func sumRow(t *tileArgs, a, b []float32) (s [4]float32) {
	if t.cols == 4 {
		var s0, s1, s2, s3 float32
		for o := range t.outer {
			for p := range t.k {
				x := a[o*t.nexta+p*t.csa]
				v := (*[4]float32)(b[o*t.nextb+p*t.rsb:])
				s0 += float32(x * v[0])
				s1 += float32(x * v[1])
				s2 += float32(x * v[2])
				s3 += float32(x * v[3])
			}
		}
		return [4]float32{s0, s1, s2, s3}
	}
	for j := range t.cols {
		var sum float32
		for o := range t.outer {
			for p := range t.k {
				sum += float32(a[o*t.nexta+p*t.csa] * b[o*t.nextb+p*t.rsb+j])
			}
		}
		s[j] = sum
	}
	return s
}

// finishGeneric turns sums into t.cols elements of c.
func (t *tileArgs) finishGeneric(c []float32, s [4]float32) {
	for j := range t.cols {
		v := float32(t.alpha * s[j])
		if t.beta != 0 {
			v = float32(t.beta*c[j]) + v
		}
		if t.bias != nil {
			v += unsafe.Slice(t.bias, t.cols)[j]
		}
		if t.relu && v <= 0 {
			v = 0
		}
		c[j] = v
	}
}

// transposeGeneric sets dst[p*ldd+i] = src[i*lds+p] for i < rows, p < cols.
func transposeGeneric(rows, cols int, src []float32, lds int, dst []float32, ldd int) {
	for i := range rows {
		at := i
		for _, v := range src[i*lds : i*lds+cols] {
			dst[at] = v
			at += ldd
		}
	}
}
