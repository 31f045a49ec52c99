package optim

import (
	"fmt"
	"math"

	"tercet/internal/component"
)

// Schedules is the schedules of the learning rate that a config can name.
var Schedules = component.NewFamily[ScheduleKeys]("constant", "step", "cosine")

// ScheduleKeys are the keys of a schedule in a config.
type ScheduleKeys interface {
	// rate returns the learning rate of a step after the warm-up, as a pure function.
	rate(s Schedule, step int) float64
}

// ScheduleFitter is implemented by the keys of schedules that ask something of the run.
type ScheduleFitter interface {
	// Fit returns faults of the key warmup, or of their own ones.
	Fit(Course) []component.Fault
}

// Course is what a schedule may ask of a run.
type Course struct {
	LR     float64 // the highest learning rate
	Warmup float64
	Length float64 // of the run in the unit of the warm-up, 0 where it is not known
	Unit   string  // steps or epochs
}

// Schedule gives the learning rate as a pure function of the step, counted from
// 0. During the first Warmup steps it rises linearly, Base*(step+1)/Warmup; after
// them the keys say what it is.
type Schedule struct {
	Keys     ScheduleKeys
	Base     float64
	Warmup   int // steps
	Total    int // steps of the whole run
	PerEpoch int // steps of an epoch
}

// Check returns an error saying what does not make sense.
func (s Schedule) Check() error {
	if !(s.Base >= 0) || math.IsInf(s.Base, 0) {
		return fmt.Errorf("learning rate %v is not a number from 0", s.Base)
	}
	if s.Warmup < 0 {
		return fmt.Errorf("schedule: warm-up of %d steps", s.Warmup)
	}
	if err := component.Err("schedule", s.Keys); err != nil {
		return err
	}
	if f, ok := s.Keys.(ScheduleFitter); ok {
		if list := f.Fit(Course{s.Base, float64(s.Warmup), float64(s.Total), "steps"}); len(list) > 0 {
			return fmt.Errorf("schedule: %s %s", list[0].Key, list[0].Msg)
		}
	}
	return nil
}

// LR returns the learning rate of a step. The schedule must have passed Check.
func (s Schedule) LR(step int) float64 {
	if step < s.Warmup {
		return s.Base * float64(step+1) / float64(s.Warmup)
	}
	return s.Keys.rate(s, step)
}
