package main

import (
	"tercet/internal/engine/kernel/_generate/asm"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// pairsAtOnce is the number of sums that keep the multiply-adds busy, as far as there are
// registers for their rows.
const pairsAtOnce = 6

// pairProducts emits products of single pairs of rows, each in one chain as the tiles form
// theirs.
func pairProducts() {
	asm.Only("pairProductsFMA", "k int, rows **float32, sums *float32",
		"multiplies six pairs of rows of k numbers, k > 0, the rows of a pair next to each other:",
		"",
		"\tfor i := range 6 {",
		"\t\ts := float32(0)",
		"\t\tfor p := range k {",
		"\t\t\ts = fma(rows[2*i][p], rows[2*i+1][p], s)",
		"\t\t}",
		"\t\tsums[i] = s",
		"\t}",
	)
	rows := Load(Param("rows"), GP64())
	var row [2 * pairsAtOnce]reg.GPVirtual
	for i := range row {
		row[i] = GP64()
		MOVQ(at(rows, 8*i), row[i])
	}
	var sum, x [pairsAtOnce]reg.VecVirtual
	for i := range sum {
		sum[i], x[i] = XMM(), XMM()
		VXORPS(sum[i], sum[i], sum[i])
	}
	k := Load(Param("k"), GP64())
	p := GP64()
	XORQ(p, p)
	Label("number")
	for i := range sum {
		VMOVSS(Mem{Base: row[2*i], Index: p, Scale: 4}, x[i])
	}
	for i := range sum {
		VFMADD231SS(Mem{Base: row[2*i+1], Index: p, Scale: 4}, x[i], sum[i])
	}
	INCQ(p)
	CMPQ(p, k)
	JNE(LabelRef("number"))
	sums := Load(Param("sums"), GP64())
	for i := range sum {
		VMOVSS(sum[i], at(sums, 4*i))
	}
	asm.End()
}
