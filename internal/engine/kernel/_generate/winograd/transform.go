package main

import (
	"fmt"
	"slices"

	"tercet/internal/engine/kernel/_generate/asm"
)

// ending is what becomes of the results.
type ending int

const (
	padded   ending = iota // stored; the last vector is filled up with zeros
	finished               // stored after bias and floor
	added                  // added to what is there
)

// transform is dst = map * src * transpose of map for every lane.
type transform struct {
	name string
	by   matrix
	end  ending
	skip int // columns of src that the last call fetched
	part part
}

// part is the rows of the result that a function computes.
type part int

const (
	allRows part = iota
	firstHalf
	secondHalf
)

// has reports whether row i of a result of so many rows belongs to the part. Rows of points
// p and -p belong together, so the second part of 4, 6 and 8 rows is rows 1 to 2, 3 to 5 and
// 3 to 6. Package kernel has the same rule (winogradHalf.has).
func (p part) has(i, rows int) bool {
	from := rows/2 - 1 | 1
	inner := i >= from && i < from+rows/2
	return p == allRows || inner == (p == secondHalf)
}

func (p part) suffix() string { return [...]string{"", "First", "Second"}[p] }

// groups returns the groups of the part.
func (t transform) groups() []group {
	var out []group
	for _, g := range t.by.groups() {
		kept := 0
		for _, i := range g.rows {
			if t.part.has(i, len(t.by)) {
				kept++
			}
		}
		switch kept {
		case 0:
		case len(g.rows):
			out = append(out, g)
		default:
			for _, one := range g.split() {
				if t.part.has(one.rows[0], len(t.by)) {
					out = append(out, one)
				}
			}
		}
	}
	return out
}

// emit writes one function. Rows of the result are computed in groups: the
// group's rows of map*src are held in registers, then multiplied from the right.
func (t transform) emit(i isa) {
	signature := "n int, src *float32, srow, scol int, dst *float32, drow, dcol, ahead int, room *float32"
	switch t.end {
	case padded:
		signature = "n int, src *float32, at *int, dst *float32, drow, dcol, ahead int, room *float32"
	case finished:
		signature = "n int, src *float32, srow, scol int, dst *float32, at *int, ahead int, bias *float32, floor float32, room *float32"
	}
	asm.Func(t.name, i.name(), signature, t.doc()...)
	w := writer{transform: t, isa: i, groups: t.by.groups(), rows: t.groups()}
	w.begin(constants(slices.Concat(w.groups, w.rows, w.narrow(w.rows))))
	w.load()
	w.loop()
	asm.End()
}

// described is the first function of each ending, which the others refer to.
var described = map[ending]string{}

func (t transform) doc() []string {
	to, from := len(t.by), len(t.by[0])
	if t.part != allRows {
		what := map[part]string{firstHalf: "first", secondHalf: "second"}[t.part]
		return []string{fmt.Sprintf("does what %sAsm does, with its own matrix of %d rows and %d columns, for the %s half of the rows (winogradHalf).", described[t.end], to, from, what)}
	}
	if other, ok := described[t.end]; ok && other != t.name {
		return []string{fmt.Sprintf("does what %sAsm does, with its own matrix of %d rows and %d columns.", other, to, from)}
	}
	described[t.end] = t.name
	source, target := "src[p*srow+q*scol+l]", "dst[i*drow+j*dcol+l]"
	switch t.end {
	case padded:
		source = "src[at[columns*p+q]+l]"
	case finished:
		target = "dst[at[rows*i+j]+l]"
	}
	lines := []string{
		fmt.Sprintf("computes, for n > 0 lanes l, with room for 512 numbers and with its matrix m of rows = %d and columns = %d:", to, from),
		"",
		"\tfor i, j := range (rows, rows) {",
		"\t\ts := sum over p, q of m[i][p] * m[j][q] * " + source,
	}
	switch t.end {
	case padded:
		lines = append(lines, "\t\t"+target+" = s", "\t}", "",
			"and zeros for the lanes from n on to the next multiple of a vector's.",
			"What is ahead of the sources is fetched into the cache.")
	case finished:
		lines = append(lines, "\t\t"+target+" = max(floor, s + bias[l])", "\t}", "",
			"a NaN staying one. src and bias are read up to a multiple of a vector's lanes.",
			"What is ahead of the results is fetched into the cache.")
	case added:
		lines = append(lines, "\t\t"+target+" += s", "\t}", "",
			"src is read up to a multiple of a vector's lanes.",
			"What is ahead of the sources is fetched into the cache.")
	}
	return lines
}
