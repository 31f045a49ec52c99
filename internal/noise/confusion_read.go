package noise

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"tercet/internal/fsx"
	"tercet/internal/text"
)

// maxNumber is the longest that a number of a confusion matrix may be, in bytes, with
// the blanks around it.
const maxNumber = 100

// readConfusion reads a matrix of that many classes for ByConfusion: comma-separated
// numbers, one line for each class, as many numbers in each; lines that begin with # are
// skipped. Reading ends at the first line or number too many. Errors say name, line and
// column (the number in its line, from 1).
func readConfusion(r io.Reader, name string, classes int) ([][]float64, error) {
	bound := fsx.NewRecords(r, 1<<16+maxNumber*classes)
	c := csv.NewReader(bound)
	c.Comment, c.FieldsPerRecord, c.TrimLeadingSpace, c.ReuseRecord = '#', -1, true, true
	var m [][]float64
	for {
		fields, err := c.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, unreadable(name, len(m), err)
		}
		bound.Next()
		line, _ := c.FieldPos(0)
		if len(fields) != classes {
			return nil, fmt.Errorf("noise: %s: line %d has %s; want %d, one for each class of the training items", name, line, text.Count(len(fields), "number"), classes)
		}
		if len(m) == classes {
			return nil, fmt.Errorf("noise: %s: line %d is one line of numbers too many for %d classes", name, line, classes)
		}
		row := make([]float64, len(fields))
		for i, f := range fields {
			v, err := strconv.ParseFloat(strings.TrimSpace(f), 64)
			if err != nil || !isProbability(v) {
				return nil, fmt.Errorf("noise: %s: line %d, column %d: %q is not a probability; want numbers from 0 to 1", name, line, i+1, f)
			}
			row[i] = v
		}
		m = append(m, row)
	}
	if len(m) == 0 {
		return nil, fmt.Errorf("noise: %s: no numbers", name)
	}
	if len(m) != classes {
		return nil, fmt.Errorf("noise: %s: %s; want %d, one for each class of the training items", name, text.Count(len(m), "line"), classes)
	}
	if err := checkConfusion(m); err != nil {
		return nil, fmt.Errorf("noise: %s: %w", name, err)
	}
	return m, nil
}

// unreadable words an error of the csv reader that came after so many rows.
func unreadable(name string, rows int, err error) error {
	var p *csv.ParseError
	switch {
	case errors.Is(err, fsx.ErrLong):
		return fmt.Errorf("noise: %s: the line after %s of numbers is too long to be one of numbers, one for each class", name, text.Count(rows, "line"))
	case errors.As(err, &p):
		return fmt.Errorf("noise: %s: line %d: a quote (\") that is not expected; want numbers, separated by commas", name, p.Line)
	}
	return fmt.Errorf("noise: %s: %w", name, err)
}
