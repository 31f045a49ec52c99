package kernel

import "tercet/internal/par"

type biasJob struct {
	level Level
	width int // numbers in a wide row; see widen.go
	y     []float32
	bias  []float32 // of a wide row
	table []float32
}

var biasJobs par.Free[biasJob]

// AddBias adds bias (cols) to every row of y (rows, cols).
func AddBias(rows, cols int, y, bias []float32) {
	if rows*cols == 0 {
		return
	}
	j := biasJobs.Get()
	j.level, j.width, j.y, j.bias = Current(), wideRow(rows, cols), y[:rows*cols], bias[:cols]
	if j.width > cols {
		if cap(j.table) < j.width {
			j.table = make([]float32, j.width)
		}
		j.table = j.table[:j.width]
		copy(j.table, j.bias)
		repeatTo(j.table, cols)
		j.bias = j.table
	}
	par.Do(ceilDiv(len(j.y), j.width), max(1, elems/j.width), j)
	j.y, j.bias = nil, nil
	biasJobs.Put(j)
}

// Run does wide rows [lo, hi).
func (j *biasJob) Run(lo, hi int) {
	y := j.y[lo*j.width : min(hi*j.width, len(j.y))]
	rows := len(y) / j.width
	if rows > 0 {
		j.level.addRows(rows, j.width, y, j.bias)
	}
	if rest := y[rows*j.width:]; len(rest) > 0 {
		j.level.add(rest, j.bias[:len(rest)], rest)
	}
}

func addRowsGeneric(rows, cols int, y, b []float32) {
	for r := range rows {
		row := y[r*cols : (r+1)*cols]
		addGeneric(row, b, row)
	}
}
