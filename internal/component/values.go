package component

import (
	"math"
	"strconv"
	"strings"
)

// Auto is a number, or "auto" for one that follows from the rest.
type Auto struct {
	Given bool
	N     float64 // 0 where not given
}

// String returns the value as a config writes it.
func (a Auto) String() string {
	if !a.Given {
		return "auto"
	}
	return Number(a.N)
}

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

// Number writes x as a config does, so that reading it gives the same bits; steps of
// 1/255, the unit of pixel perturbations, stay fractions.
func Number(x float64) string {
	s := strconv.FormatFloat(x, 'g', -1, 64)
	if k := math.Round(x * 255); len(s) > 8 && k >= 1 && k <= 255 && k/255 == x {
		return strconv.Itoa(int(k)) + "/255"
	}
	if m, e, ok := strings.Cut(s, "e"); ok && !strings.Contains(m, ".") {
		return m + ".0e" + e // YAML 1.1 readers take 1e-06 for a text
	}
	return s
}

// MaxSteps is more than any run's steps.
const MaxSteps = min(1<<40, math.MaxInt)

// Steps converts a span in steps or epochs, each of so many steps, to steps; what no
// run reaches counts as MaxSteps.
func (s Span) Steps(perEpoch int) int {
	n := s.N
	if s.Unit == "epochs" {
		n *= float64(perEpoch)
	}
	return int(min(math.Round(n), MaxSteps))
}
