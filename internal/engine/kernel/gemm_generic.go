package kernel

// tileShape is the register tile of a level: at most rows rows, and wide or
// narrow columns.
type tileShape struct{ rows, wide, narrow int }

var genericShape = tileShape{rows: 4, wide: 4, narrow: 4}

// tileGeneric is the tile in plain Go, rows (1 to 4) by 4. Every element is one
// sum over k in index order, whatever the number of rows.
func tileGeneric(rows, k int, a []float32, rsa, csa int, b []float32, rsb int, c []float32, ldc int, alpha, beta float32) {
	i := 0
	for ; i+2 <= rows; i += 2 {
		rowPair(k, a[i*rsa:], rsa, csa, b, rsb, c[i*ldc:], ldc, alpha, beta)
	}
	if i < rows {
		rowSingle(k, a[i*rsa:], csa, b, rsb, c[i*ldc:], alpha, beta)
	}
}

// rowPair keeps eight sums: with four of B and two of A they fit in the sixteen
// vector registers of amd64.
func rowPair(k int, a []float32, rsa, csa int, b []float32, rsb int, c []float32, ldc int, alpha, beta float32) {
	var s00, s01, s02, s03, s10, s11, s12, s13 float32
	a2 := a[rsa:]
	ia, ib := 0, 0
	for range k {
		x, y := a[ia], a2[ia]
		v := b[ib : ib+4 : ib+4]
		ia += csa
		ib += rsb
		s00 += x * v[0]
		s10 += y * v[0]
		s01 += x * v[1]
		s11 += y * v[1]
		s02 += x * v[2]
		s12 += y * v[2]
		s03 += x * v[3]
		s13 += y * v[3]
	}
	store4((*[4]float32)(c), s00, s01, s02, s03, alpha, beta)
	store4((*[4]float32)(c[ldc:]), s10, s11, s12, s13, alpha, beta)
}

func rowSingle(k int, a []float32, csa int, b []float32, rsb int, c []float32, alpha, beta float32) {
	var s0, s1, s2, s3 float32
	for p := range k {
		x := a[p*csa]
		v := (*[4]float32)(b[p*rsb:])
		s0 += x * v[0]
		s1 += x * v[1]
		s2 += x * v[2]
		s3 += x * v[3]
	}
	store4((*[4]float32)(c), s0, s1, s2, s3, alpha, beta)
}

func store4(c *[4]float32, s0, s1, s2, s3, alpha, beta float32) {
	if beta == 0 {
		*c = [4]float32{alpha * s0, alpha * s1, alpha * s2, alpha * s3}
		return
	}
	c[0] = beta*c[0] + alpha*s0
	c[1] = beta*c[1] + alpha*s1
	c[2] = beta*c[2] + alpha*s2
	c[3] = beta*c[3] + alpha*s3
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
