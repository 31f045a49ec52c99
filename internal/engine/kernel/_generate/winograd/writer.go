package main

import (
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// writer holds the registers of one function.
type writer struct {
	transform
	isa
	groups                []group // of the columns of the result
	rows                  []group // of its rows, as far as they are computed
	src, dst, n, bias     reg.Register
	at                    reg.Register         // table of distances, in numbers
	srow, scol, drow, col map[int]reg.Register // odd multiples of strides, in bytes
}

func bytes(name string) reg.Register {
	r := Load(Param(name), GP64())
	SHLQ(Imm(2), r)
	return r
}

// multiples returns registers with the odd multiples of r below count.
func multiples(r reg.Register, count int) map[int]reg.Register {
	all := map[int]reg.Register{1: r}
	for i := 3; i < count; i += 2 {
		next := GP64()
		LEAQ(Mem{Base: all[i-2], Index: r, Scale: 2}, next)
		all[i] = next
	}
	return all
}

// offset returns base + i strides.
func offset(base reg.Register, stride map[int]reg.Register, i int) Mem {
	if i == 0 {
		return Mem{Base: base}
	}
	scale := 1
	for i%2 == 0 {
		i, scale = i/2, scale*2
	}
	return Mem{Base: base, Index: stride[i], Scale: uint8(scale)}
}

func (w *writer) load() {
	from := len(w.by[0])
	w.n = Load(Param("n"), GP64())
	w.src = Load(Param("src"), GP64())
	w.dst = Load(Param("dst"), GP64())
	if w.end != padded {
		w.srow = multiples(bytes("srow"), from)
		w.scol = map[int]reg.Register{1: bytes("scol")}
	}
	if w.end != finished {
		w.drow = map[int]reg.Register{1: bytes("drow")}
		w.col = multiples(bytes("dcol"), len(w.by))
	}
	if w.end != added {
		w.at = Load(Param("at"), GP64())
	}
	if w.end == finished {
		w.bias = Load(Param("bias"), GP64())
	}
}

// loop runs the body for whole vectors and once more for a tail.
func (w *writer) loop() {
	w.all()
	if w.masked() {
		Label("next")
		CMPQ(w.n, Imm(uint64(w.lanes())))
		JGE(LabelRef("body"))
		w.first(w.n)
		Label("body")
		w.body()
		w.advance()
		JG(LabelRef("next"))
		return
	}
	CMPQ(w.n, Imm(uint64(w.lanes())))
	JL(LabelRef("tail"))
	Label("body")
	w.body()
	w.advance()
	CMPQ(w.n, Imm(uint64(w.lanes())))
	JGE(LabelRef("body"))
	TESTQ(w.n, w.n)
	JZ(LabelRef("done"))
	Label("tail")
	w.first(w.n)
	w.body()
	Label("done")
	w.all()
}

// advance goes to the next vector; the flags tell whether lanes are left.
func (w *writer) advance() {
	step := Imm(uint64(4 * w.lanes()))
	ADDQ(step, w.src)
	ADDQ(step, w.dst)
	if w.end == finished {
		ADDQ(step, w.bias)
	}
	SUBQ(Imm(uint64(w.lanes())), w.n)
}

func (w *writer) body() {
	if w.throughRoom() {
		w.columnsToRoom()
		w.rowsFromRoom()
		return
	}
	from := len(w.by[0])
	seen := map[[2]int]bool{}
	for _, g := range w.narrow(w.rows) {
		held := make([][]reg.Register, len(g.rows))
		next, column := w.ahead(), w.column()
		for q := range from {
			out := w.line(g, func(p int) reg.Register { return w.input(p, q, column, next, seen) })
			for r := range out {
				held[r] = append(held[r], out[r])
			}
			if q+1 < from {
				w.nextColumn(column, next)
			}
		}
		for r, i := range g.rows {
			w.resultRow(i, next, func(q int) reg.Register { return held[r][q] })
		}
	}
}

// throughRoom reports whether map*src goes to memory: where it would be held in so many
// registers that few are left, every group would have to load the inputs again.
func (w *writer) throughRoom() bool { return !w.masked() && len(w.by[0]) == 8 }

// columnsToRoom writes map*src: each input is loaded once.
func (w *writer) columnsToRoom() {
	from := len(w.by[0])
	seen := map[[2]int]bool{}
	next, column, room := w.ahead(), w.column(), Load(Param("room"), GP64())
	for q := range from {
		loaded := map[int]reg.Register{}
		for _, g := range w.narrow(w.rows) {
			out := w.line(g, func(p int) reg.Register {
				if _, ok := loaded[p]; !ok {
					loaded[p] = w.input(p, q, column, next, seen)
				}
				return loaded[p]
			})
			for r, i := range g.rows {
				VMOVUPS(out[r], Mem{Base: room, Disp: 4 * w.lanes() * (i*from + q)})
			}
		}
		if q+1 < from {
			w.nextColumn(column, next)
		}
	}
}

// rowsFromRoom multiplies map*src from the right.
func (w *writer) rowsFromRoom() {
	from := len(w.by[0])
	next, room := w.ahead(), Load(Param("room"), GP64())
	for _, g := range w.rows {
		for _, i := range g.rows {
			loaded := map[int]reg.Register{}
			w.resultRow(i, next, func(q int) reg.Register {
				if _, ok := loaded[q]; !ok {
					loaded[q] = w.vec()
					VMOVUPS(Mem{Base: room, Disp: 4 * w.lanes() * (i*from + q)}, loaded[q])
				}
				return loaded[q]
			})
		}
	}
}

// ahead returns where what is fetched begins.
func (w *writer) ahead() reg.Register {
	base, next := w.dst, GP64()
	if w.end != finished {
		base = w.src
	}
	MOVQ(param("ahead"), next)
	LEAQ(Mem{Base: base, Index: next, Scale: 4}, next)
	return next
}

// column returns where the columns of src begin, where there is no table of distances.
func (w *writer) column() reg.Register {
	column := GP64()
	if w.end != padded {
		MOVQ(w.src, column)
	}
	return column
}

func (w *writer) nextColumn(column, next reg.Register) {
	if w.end != padded {
		ADDQ(w.scol[1], column)
	}
	if w.end == added {
		ADDQ(w.scol[1], next)
	}
}

// input loads the input at (p, q), and asks for what is ahead of it the first time.
func (w *writer) input(p, q int, column, next reg.Register, seen map[[2]int]bool) reg.Register {
	x, from := w.vec(), len(w.by[0])
	again := seen[[2]int{p, q}]
	seen[[2]int{p, q}] = true
	if w.end == padded {
		i := w.entry(p*from + q)
		if q >= w.skip && !again {
			PREFETCHT0(Mem{Base: next, Index: i, Scale: 4})
		}
		w.isa.load(Mem{Base: w.src, Index: i, Scale: 4}, x)
		return x
	}
	if w.end == added && !again {
		PREFETCHT0(offset(next, w.srow, p))
	}
	VMOVUPS(offset(column, w.srow, p), x)
	return x
}

// resultRow computes row i of the result from that row of map*src.
func (w *writer) resultRow(i int, next reg.Register, held func(q int) reg.Register) {
	var row reg.Register
	if w.end != finished {
		row = w.row(i)
	}
	for _, h := range w.groups {
		out := w.line(h, held)
		for k, j := range h.rows {
			if w.end != finished {
				w.result(out[k], offset(row, w.col, j))
				continue
			}
			e := w.entry(i*len(w.by) + j)
			PREFETCHT0(Mem{Base: next, Index: e, Scale: 4})
			w.result(out[k], Mem{Base: w.dst, Index: e, Scale: 4})
		}
	}
}

// narrow splits pairs of rows where they would take more registers than there
// are besides four to compute with.
func (w *writer) narrow(groups []group) []group {
	if w.masked() || 2*len(w.by[0])+4 <= 16 {
		return groups
	}
	var out []group
	for _, g := range groups {
		out = append(out, g.split()...)
	}
	return out
}

// entry returns a number of the table.
func (w *writer) entry(i int) reg.Register {
	r := GP64()
	MOVQ(Mem{Base: w.at, Disp: 8 * i}, r)
	return r
}

// row returns the address of row i of the result.
func (w *writer) row(i int) reg.Register {
	r := w.dst
	for bit := 1; bit <= i; bit *= 2 {
		if i&bit != 0 {
			next := GP64()
			LEAQ(offset(r, w.drow, bit), next)
			r = next
		}
	}
	return r
}

func (w *writer) result(v reg.Register, m Mem) {
	switch w.end {
	case padded:
		VMOVUPS(v, m)
	case finished:
		z, floor := w.vec(), w.vec()
		VADDPS(Mem{Base: w.bias}, v, z)
		VBROADCASTSS(param("floor"), floor)
		VMAXPS(z, floor, z) // of a NaN and a number it gives the first operand
		w.store(z, m)
	case added:
		z := w.vec()
		w.isa.load(m, z)
		VADDPS(z, v, z)
		w.store(z, m)
	}
}

// line multiplies one group's rows by a line of inputs.
func (w *writer) line(g group, x func(int) reg.Register) []reg.Register {
	if g.odd != nil {
		even, odd := w.sum(g.even[0], x), w.sum(g.odd, x)
		plus, minus := w.vec(), w.vec()
		VADDPS(odd, even, plus)
		VSUBPS(odd, even, minus)
		return []reg.Register{plus, minus}
	}
	// Sums and differences of inputs are made once for all rows of the group.
	made := map[source]reg.Register{}
	get := func(s source) reg.Register {
		if v, ok := made[s]; ok {
			return v
		}
		v := x(s.j)
		if s.k >= 0 {
			z := w.vec()
			if s.sign > 0 {
				VADDPS(x(s.k), v, z)
			} else {
				VSUBPS(x(s.k), v, z)
			}
			v = z
		}
		made[s] = v
		return v
	}
	var out []reg.Register
	for _, terms := range g.even {
		out = append(out, w.sumOf(terms, get))
	}
	return out
}

func (w *writer) sum(terms []term, x func(int) reg.Register) reg.Register {
	return w.sumOf(terms, func(s source) reg.Register { return x(s.j) })
}

func (w *writer) sumOf(terms []term, get func(source) reg.Register) reg.Register {
	start := first(terms)
	z := w.vec()
	v := get(terms[start].source)
	if c := terms[start].c; len(terms) == 1 && c == 1 {
		return v
	} else if c == 1 {
		w.move(v, z)
	} else {
		w.multiply(c, v, z)
	}
	for i, t := range terms {
		if i != start {
			w.fma(t.c, get(t.source), z)
		}
	}
	return z
}

// fma adds c*v to z.
func (w *writer) fma(c float64, v, z reg.Register) {
	op := w.coefficient(float32(math.Abs(c)))
	switch {
	case c == 1:
		VADDPS(v, z, z)
	case c == -1:
		VSUBPS(v, z, z)
	case c > 0:
		w.arithmetic(VFMADD231PS, VFMADD231PS_BCST, op, v, z)
	default:
		w.arithmetic(VFNMADD231PS, VFNMADD231PS_BCST, op, v, z)
	}
}

// multiply sets z = c*v.
func (w *writer) multiply(c float64, v, z reg.Register) {
	w.arithmetic(VMULPS, VMULPS_BCST, w.coefficient(float32(c)), v, z)
}

// arithmetic takes a constant from a register, from eight copies in memory, or,
// with AVX-512, from one number in memory.
func (w *writer) arithmetic(plain, broadcast func(...Op), c Op, v, z reg.Register) {
	if _, inMemory := c.(Mem); inMemory && w.masked() {
		plain = broadcast
	}
	plain(c, v, z)
}

func (w *writer) move(from, to reg.Register) { VMOVAPS(from, to) }

// param returns the memory operand of an argument.
func param(name string) Mem {
	b, err := Param(name).Resolve()
	if err != nil {
		panic(err)
	}
	return b.Addr
}
