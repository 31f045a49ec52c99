package kernel

// Kernels that work by columns, on matrices (rows, cols) without gaps, see
// several rows as one wide row, so that rows of 3 or 47 numbers neither end in
// short vectors nor cost a loop each. The last wide row may be shorter.

// wideRow returns the numbers in a wide row for element-wise kernels, whose
// per-column factors are repeated to that width: a multiple of 16 of some
// hundred numbers where such a table stays small.
func wideRow(rows, cols int) int {
	const least, most = 256, 2048
	repeat := 1
	for cols*repeat%16 != 0 {
		repeat *= 2
	}
	if cols*repeat > most {
		return cols
	}
	for cols*repeat < least {
		repeat *= 2
	}
	return cols * min(repeat, max(rows, 1))
}

// wideSumRow returns the numbers in a wide row for sums by columns: up to 32.
func wideSumRow(rows, cols int) int {
	return cols * min(max(1, 32/cols), max(rows, 1))
}

// repeatTo fills table with copies of its first cols numbers.
func repeatTo(table []float32, cols int) {
	for n := cols; n < len(table); n *= 2 {
		copy(table[n:], table[:n])
	}
}
