package noise

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// ReadConfusion reads a matrix for ByConfusion: comma-separated numbers, one line for
// each class, as many numbers in each; lines that begin with # are skipped. Errors say
// name, line and column (the number in its line, from 1).
func ReadConfusion(r io.Reader, name string) ([][]float64, error) {
	c := csv.NewReader(r)
	c.Comment, c.FieldsPerRecord, c.TrimLeadingSpace = '#', -1, true
	var m [][]float64
	for {
		fields, err := c.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("noise: %s: %w", name, err)
		}
		line, _ := c.FieldPos(0)
		row := make([]float64, len(fields))
		for i, f := range fields {
			v, err := strconv.ParseFloat(strings.TrimSpace(f), 64)
			if err != nil || !isProbability(v) {
				return nil, fmt.Errorf("noise: %s: line %d, column %d: %q is not a probability; want numbers from 0 to 1", name, line, i+1, f)
			}
			row[i] = v
		}
		if len(m) > 0 && len(row) != len(m[0]) {
			return nil, fmt.Errorf("noise: %s: line %d has %d numbers, the first one %d", name, line, len(row), len(m[0]))
		}
		m = append(m, row)
	}
	if len(m) == 0 {
		return nil, fmt.Errorf("noise: %s: no numbers", name)
	}
	if len(m) != len(m[0]) {
		return nil, fmt.Errorf("noise: %s: %d lines of %d numbers; want as many lines as numbers: one of both for each class", name, len(m), len(m[0]))
	}
	if err := checkConfusion(m); err != nil {
		return nil, fmt.Errorf("noise: %s: %w", name, err)
	}
	return m, nil
}
