package optim

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// What a schedule does in the steps by which a run is lengthened.
const (
	Keep    = "keep"    // the learning rate of the last planned step stays
	Restart = "restart" // the curve again, without its warm-up, over the further steps
	Stretch = "stretch" // the curve of the whole length, of which the first part was missed
)

// Continuations are the words for what a schedule does when a run is lengthened.
func Continuations() []string { return []string{Keep, Restart, Stretch} }

// Extension says that a run was planned to end somewhere, and how its schedule continues.
type Extension struct {
	End  int // steps or epochs
	Then string
}

// ParseExtensions reads extensions written as "10 restart". Their ends must rise, and the
// last be below the length of the run.
func ParseExtensions(list []string, length int) (out []Extension, err error) {
	for _, text := range list {
		n, then, _ := strings.Cut(text, " ")
		end, err := strconv.Atoi(n)
		switch last := len(out) - 1; {
		case err != nil || end < 1 || !slices.Contains(Continuations(), then):
			return nil, fmt.Errorf("has %q; write a former length and one of %s, such as \"10 restart\"", text, strings.Join(Continuations(), ", "))
		case last >= 0 && end <= out[last].End:
			return nil, fmt.Errorf("must have rising lengths: %d comes after %d", end, out[last].End)
		case end >= length:
			return nil, fmt.Errorf("has a former length of %d, and the run has %d: it must be shorter", end, length)
		}
		out = append(out, Extension{end, then})
	}
	return out, nil
}

// Extended is the schedule of a run that was lengthened; Total is its present length. Up to
// the first end it is that of the run as it was first planned, so that training the whole
// from the first step takes the same steps again.
type Extended struct {
	Schedule
	Before []Extension // ends in steps, rising
}

// LR returns the learning rate of a step.
func (e Extended) LR(step int) float64 {
	part := 0
	for part < len(e.Before) && step >= e.Before[part].End {
		part++
	}
	return e.rate(part, step)
}

// rate is the learning rate of a step after so many ends.
func (e Extended) rate(part, step int) float64 {
	s := e.Schedule
	if part < len(e.Before) {
		s.Total = e.Before[part].End
	}
	if part == 0 {
		return s.LR(step)
	}
	begin := e.Before[part-1].End
	switch e.Before[part-1].Then {
	case Keep:
		return e.rate(part-1, begin-1)
	case Restart:
		s.Warmup, s.Total = 0, s.Total-begin
		return s.LR(step - begin)
	}
	return s.LR(step)
}

// Follows says whether the learning rate of some step depends on the length of the run: it
// compares the schedule of Total steps with that of a run of so many.
func (s Schedule) Follows(longer int) bool {
	l := s
	l.Total = longer
	for step := range s.Total {
		if s.LR(step) != l.LR(step) {
			return true
		}
	}
	return false
}
