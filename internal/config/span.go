package config

import "strconv"

// Span is a length with its unit, written as "200 steps", "2 epochs",
// "5 minutes", or a bare number in the key's first unit.
type Span struct {
	N    float64
	Unit string // plural: "steps", "epochs", "minutes"
}

// String returns the span as a config writes it.
func (s Span) String() string {
	unit := s.Unit
	if s.N == 1 && len(unit) > 1 {
		unit = unit[:len(unit)-1]
	}
	return strconv.FormatFloat(s.N, 'g', -1, 64) + " " + unit
}
