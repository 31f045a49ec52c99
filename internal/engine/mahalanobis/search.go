package mahalanobis

import (
	"errors"
	"math"

	"gonum.org/v1/gonum/optimize"
)

// The conditions on a step.
const (
	decrease = 1e-4  // of Armijo
	flatter  = 0.9   // how much of the slope may be left
	rounding = 1e-12 // by how much of its size a value may rise, which rounding could be
	mostTry  = 60    // steps tried
)

var errSearch = errors.New("no step along the direction lowers the objective")

// search is a line search on a convex function that works down to rounding: near the
// minimum values no longer tell which step is better, but slopes do. A step is taken
// on Wolfe's conditions, or on those of Hager and Zhang ("A new conjugate gradient
// method with guaranteed descent and an efficient line search", SIAM J. Optim. 2005,
// eq. 4.1), in which the slope at the step takes the place of the value. It cuts an
// interval at whose lower end the function falls where the slope would be 0 were it
// linear, and halves it where two such cuts have not: at a kink they creep.
type search struct {
	value, slope float64 // at 0
	step         float64
	low, high    float64 // the interval; high is +Inf until one is known
	lowSlope     float64
	highSlope    float64 // NaN where only the value is too high
	tries        int
	wide         float64 // the interval's length when it was last known to have halved
	crept        int     // cuts since then
}

// Init implements optimize.Linesearcher.
func (s *search) Init(value, derivative, step float64) optimize.Operation {
	*s = search{value: value, slope: derivative, step: step, high: math.Inf(1), lowSlope: derivative}
	return optimize.FuncEvaluation | optimize.GradEvaluation
}

// Iterate implements optimize.Linesearcher.
func (s *search) Iterate(value, slope float64) (optimize.Operation, float64, error) {
	if s.accepts(value, slope) {
		return optimize.MajorIteration, s.step, nil
	}
	if s.tries++; s.tries > mostTry {
		return optimize.NoOperation, 0, errSearch
	}
	if slope < 0 && value <= s.value+float64(rounding*math.Abs(s.value)) {
		s.low, s.lowSlope = s.step, slope
	} else {
		s.high, s.highSlope = s.step, slope
	}
	s.step = s.next()
	return optimize.FuncEvaluation | optimize.GradEvaluation, s.step, nil
}

func (s *search) accepts(value, slope float64) bool {
	if !(slope >= flatter*s.slope) || math.IsInf(value, 0) {
		return false
	}
	return value <= s.value+float64(decrease*s.step*s.slope) ||
		value <= s.value+float64(rounding*math.Abs(s.value)) && slope <= (2*decrease-1)*s.slope
}

// next is where the slope would be 0 were it linear, well inside the interval.
func (s *search) next() float64 {
	if math.IsInf(s.high, 1) {
		return 4 * s.step
	}
	length := s.high - s.low
	if s.crept++; s.wide == 0 || length <= s.wide/2 {
		s.wide, s.crept = length, 0
	}
	at := s.low + float64(length/2)
	if s.crept >= 2 {
		s.wide, s.crept = length, 0
		return at
	}
	if s.highSlope > 0 && !math.IsInf(s.highSlope, 0) {
		at = s.low - s.lowSlope*length/(s.highSlope-s.lowSlope)
	}
	return min(max(at, s.low+float64(0.05*length)), s.high-float64(0.05*length))
}
