package optim

import (
	"math"

	"tercet/internal/component"
)

func init() {
	Schedules.Register(component.Component[ScheduleKeys]{Name: "one-cycle", Doc: "half a cosine up to optimizer.lr, then half a cosine down to nearly 0", Defaults: OneCycle{Rise: 0.3, StartFactor: 25, EndFactor: 1e4}})
}

// OneCycle raises the learning rate from Base/StartFactor to Base during the first part of
// the run, and lowers it to Base/StartFactor/EndFactor until its end, both along half a
// cosine (Smith and Topin, "Super-Convergence", 2018), as PyTorch's OneCycleLR without a
// cycle of the momentum.
type OneCycle struct {
	Rise        float64 `yaml:"rise" check:">0,<1" doc:"fraction of the run in which the learning rate rises"`
	StartFactor float64 `yaml:"start_factor" check:">=1,<=1e9" doc:"the learning rate at the start is optimizer.lr divided by this"`
	EndFactor   float64 `yaml:"end_factor" check:">=1,<=1e12" doc:"that at the end is the one at the start divided by this"`
}

// Fit implements ScheduleFitter.
func (OneCycle) Fit(r Course) []component.Fault {
	if r.Warmup > 0 {
		return []component.Fault{component.Faultf("warmup", "must be 0 with schedule one-cycle, which rises by itself: set optimizer.schedule.rise")}
	}
	return nil
}

func (c OneCycle) rate(s Schedule, step int) float64 {
	start, top, end := s.Base/c.StartFactor, s.Base, s.Base/c.StartFactor/c.EndFactor
	rise, last := max(0, float64(c.Rise*float64(s.Total))-1), float64(s.Total-1)
	switch at := float64(step); {
	case at >= last:
		return end
	case at < rise:
		return along(start, top, at/rise)
	default:
		return along(top, end, (at-rise)/(last-rise))
	}
}

// along goes from a to b by half a cosine, at a part of the way.
func along(a, b, part float64) float64 {
	return b + float64((a-b)/2*(1+math.Cos(math.Pi*part)))
}
