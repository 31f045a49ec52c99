package optim

import (
	"fmt"
	"math"
)

// Schedule gives the learning rate as a pure function of the step, counted from
// 0. During the first Warmup steps it rises linearly, Base*(step+1)/Warmup;
// after them it is
//
//	constant  Base
//	step      Base * Gamma^k, k = milestones passed, or step/Every
//	cosine    Min + (Base-Min) * (1 + cos(pi * (step-Warmup)/(Total-Warmup))) / 2,
//	          and Min from step Total on (Loshchilov & Hutter 2017, eq. 5)
type Schedule struct {
	Kind       string // constant (default), step or cosine
	Base       float64
	Warmup     int     // steps
	Total      int     // cosine: steps of the whole run
	Min        float64 // cosine
	Gamma      float64 // step: factor; 0 means 0.1
	Every      int     // step: steps between drops
	Milestones []int   // step: steps at which the rate drops, ascending; instead of Every
}

// ScheduleNames lists the kinds of schedules.
func ScheduleNames() []string { return []string{"constant", "step", "cosine"} }

// Check returns an error saying what does not make sense.
func (s Schedule) Check() error {
	if !(s.Base >= 0) || math.IsInf(s.Base, 0) {
		return fmt.Errorf("learning rate %v is not a number from 0", s.Base)
	}
	if s.Warmup < 0 {
		return fmt.Errorf("schedule: warm-up of %d steps", s.Warmup)
	}
	switch s.Kind {
	case "", "constant":
		return nil
	case "step":
		if !(s.Gamma >= 0) || math.IsInf(s.Gamma, 0) {
			return fmt.Errorf("schedule step: gamma %v is not a number from 0", s.Gamma)
		}
		if (s.Every > 0) == (len(s.Milestones) > 0) || s.Every < 0 {
			return fmt.Errorf("schedule step: give either every (steps, at least 1) or milestones")
		}
		for i, m := range s.Milestones {
			if m < 0 || i > 0 && m <= s.Milestones[i-1] {
				return fmt.Errorf("schedule step: milestones %v are not ascending from 0", s.Milestones)
			}
		}
		return nil
	case "cosine":
		if s.Total <= s.Warmup {
			return fmt.Errorf("schedule cosine: total of %d steps is not above the warm-up's %d", s.Total, s.Warmup)
		}
		if !(s.Min >= 0 && s.Min <= s.Base) {
			return fmt.Errorf("schedule cosine: min %v is not in [0, %v]", s.Min, s.Base)
		}
		return nil
	}
	return fmt.Errorf("unknown schedule %q: known are constant, step, cosine", s.Kind)
}

// LR returns the learning rate of a step. The schedule must have passed Check.
func (s Schedule) LR(step int) float64 {
	if step < s.Warmup {
		return s.Base * float64(step+1) / float64(s.Warmup)
	}
	switch s.Kind {
	case "step":
		drops := 0
		if s.Every > 0 {
			drops = step / s.Every
		}
		for _, m := range s.Milestones {
			if step >= m {
				drops++
			}
		}
		gamma := s.Gamma
		if gamma == 0 {
			gamma = 0.1
		}
		return s.Base * math.Pow(gamma, float64(drops))
	case "cosine":
		if step >= s.Total {
			return s.Min
		}
		done := float64(step-s.Warmup) / float64(s.Total-s.Warmup)
		return s.Min + (s.Base-s.Min)*(1+math.Cos(math.Pi*done))/2
	}
	return s.Base
}
