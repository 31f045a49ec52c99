package kernel

// winogradRole says which matrix a map multiplies by.
type winogradRole uint8

const (
	winogradInput   winogradRole = iota // Bᵀ, of the inputs
	winogradWeights                     // G, of the weights
	winogradOutput                      // Aᵀ, of the products
	winogradSpread                      // A, of the gradients of the outputs
	winogradGather                      // Gᵀ, of the products' gradients
)

// winogradMap is the linear map dst = by * src * byᵀ of a square of numbers, with
// the assembly that computes it at index id of its role's table.
type winogradMap struct {
	role     winogradRole
	id       int
	half     winogradHalf
	to, from int
	rows     []int         // of the result that are computed
	by       [8][8]float32 // (to, from)
	terms    [8][]int      // columns of each row that are not 0
}

// winogradHalf says which rows of the result a map computes.
type winogradHalf uint8

const (
	allRows winogradHalf = iota
	firstHalf
	secondHalf
)

// has reports whether row i of so many belongs to the half. Rows of points p and -p are
// computed together, so the second half of 4, 6 and 8 rows is rows 1 to 2, 3 to 5 and 3 to 6.
func (h winogradHalf) has(i, rows int) bool {
	from := rows/2 - 1 | 1
	inner := i >= from && i < from+rows/2
	return h == allRows || inner == (h == secondHalf)
}

// of returns the map that computes only the rows of a half.
func (h winogradHalf) of(m *winogradMap) *winogradMap {
	part := *m
	part.half, part.rows = h, nil
	for _, i := range m.rows {
		if h.has(i, m.to) {
			part.rows = append(part.rows, i)
		}
	}
	return &part
}

// newWinogradKind makes F(m x m, r x r) with the points 0, p, -p for each p of
// points, and infinity. _generate/winograd has the same matrices.
func newWinogradKind(id, m, r int, points ...float64) winogradKind {
	finite := []float64{0}
	for _, p := range points {
		finite = append(finite, p, -p)
	}
	alpha := m + r - 1
	bt, a, g := make([][]float64, alpha), make([][]float64, alpha), make([][]float64, alpha)
	for i, p := range finite {
		// Bᵀ: the product of (x - q) over the other points; G: the powers of p
		// over the product of (p - q); A: the powers of p.
		row, scale := []float64{1}, 1.0
		for j, q := range finite {
			if j != i {
				row, scale = timesRoot(row, q), scale/(p-q)
			}
		}
		bt[i] = append(row, 0)
		for k, v := 0, 1.0; k < max(m, r); k, v = k+1, v*p {
			if k < m {
				a[i] = append(a[i], v)
			}
			if k < r {
				g[i] = append(g[i], v*scale)
			}
		}
	}
	all := []float64{1}
	for _, q := range finite {
		all = timesRoot(all, q)
	}
	last := alpha - 1
	bt[last], a[last], g[last] = all, make([]float64, m), make([]float64, r)
	a[last][m-1], g[last][r-1] = 1, 1
	k := winogradKind{
		alpha: alpha, m: m, r: r,
		input:   newWinogradMap(winogradInput, id, bt),
		weights: newWinogradMap(winogradWeights, id, g),
		output:  newWinogradMap(winogradOutput, id, transposed(a)),
		gather:  newWinogradMap(winogradGather, id, transposed(g)),
	}
	spread := newWinogradMap(winogradSpread, id, a)
	for i, h := range []winogradHalf{firstHalf, secondHalf} {
		half := &k.halves[i]
		half.input, half.spread = h.of(k.input), h.of(spread)
		for _, row := range half.input.rows {
			for col := range alpha {
				half.positions = append(half.positions, row*alpha+col)
			}
		}
	}
	return k
}

// timesRoot multiplies a polynomial, lowest power first, by (x - root).
func timesRoot(poly []float64, root float64) []float64 {
	out := make([]float64, len(poly)+1)
	for i, c := range poly {
		out[i] -= float64(root * c)
		out[i+1] += c
	}
	return out
}

func transposed(m [][]float64) [][]float64 {
	t := make([][]float64, len(m[0]))
	for i := range t {
		for _, row := range m {
			t[i] = append(t[i], row[i])
		}
	}
	return t
}

func newWinogradMap(role winogradRole, id int, by [][]float64) *winogradMap {
	m := &winogradMap{role: role, id: id, to: len(by), from: len(by[0])}
	for i, row := range by {
		m.rows = append(m.rows, i)
		for j, v := range row {
			m.by[i][j] = float32(v)
			if v != 0 {
				m.terms[i] = append(m.terms[i], j)
			}
		}
	}
	return m
}

// winogradSquare holds one lane of a square of up to 8 x 8 pixels.
type winogradSquare [64]float32

// apply computes one lane: out = by * in * byᵀ.
func (m *winogradMap) apply(in, out *winogradSquare) {
	for _, i := range m.rows {
		var row [8]float32 // row i of by * in
		for q := range m.from {
			for _, p := range m.terms[i] {
				row[q] += float32(m.by[i][p] * in[p*8+q])
			}
		}
		for j := range m.to {
			s := float32(0)
			for _, q := range m.terms[j] {
				s += float32(m.by[j][q] * row[q])
			}
			out[i*8+j] = s
		}
	}
}

// lane reads lane l of the squares of src.
func (m *winogradMap) lane(src []float32, at *winogradTable, l int, in *winogradSquare) {
	for p := range m.from {
		for q := range m.from {
			in[p*8+q] = 0
			if i := at[p*m.from+q]; i != winogradOutside {
				in[p*8+q] = src[i+l]
			}
		}
	}
}

// mapGeneric, gatherGeneric and finishGeneric are the twins of the assembly, with
// vectors of 4.
func (m *winogradMap) mapGeneric(n int, src []float32, at *winogradTable, dst []float32, drow, dcol int) {
	var in, out winogradSquare
	for l := range roundUp(n, 4) {
		if l < n {
			m.lane(src, at, l, &in)
		} else {
			clear(in[:])
		}
		m.apply(&in, &out)
		for _, i := range m.rows {
			for j := range m.to {
				dst[i*drow+j*dcol+l] = out[i*8+j]
			}
		}
	}
}

func (m *winogradMap) gatherGeneric(n int, src []float32, srow, scol int, dst []float32, drow, dcol int) {
	var in, out winogradSquare
	var at winogradTable
	at.fill(m.from, srow, scol)
	for l := range n {
		m.lane(src, &at, l, &in)
		m.apply(&in, &out)
		for i := range m.to {
			for j := range m.to {
				dst[i*drow+j*dcol+l] += out[i*8+j]
			}
		}
	}
}

func (m *winogradMap) finishGeneric(n int, src []float32, srow, scol int, dst []float32, to *winogradTable, bias []float32, floor float32) {
	var in, out winogradSquare
	var at winogradTable
	at.fill(m.from, srow, scol)
	for l := range n {
		m.lane(src, &at, l, &in)
		m.apply(&in, &out)
		for i := range m.to {
			for j := range m.to {
				v := out[i*8+j] + bias[l]
				if v < floor { // false for NaN
					v = floor
				}
				if k := to[i*m.to+j]; k != winogradOutside {
					dst[k+l] = v
				}
			}
		}
	}
}
