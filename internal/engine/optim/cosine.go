package optim

import (
	"math"

	"tercet/internal/component"
)

func init() {
	Schedules.Register(component.Component[ScheduleKeys]{Name: "cosine", Doc: "half a cosine down to the end", Defaults: Cosine{}})
}

// Cosine lowers the learning rate along half a cosine to MinLR at the end of the run
// (Loshchilov & Hutter 2017, eq. 5):
//
//	MinLR + (Base-MinLR) * (1 + cos(pi * (step-Warmup)/(Total-Warmup))) / 2
type Cosine struct {
	MinLR float64 `yaml:"min_lr" check:">=0" doc:"learning rate at the end"`
}

// Fit implements ScheduleFitter.
func (c Cosine) Fit(r Course) (out []component.Fault) {
	if c.MinLR > r.LR {
		out = append(out, component.Faultf("min_lr", "is larger than optimizer.lr (%s)", component.Number(r.LR)))
	}
	if r.Length > 0 && r.Warmup >= r.Length {
		out = append(out, component.Faultf("warmup", "must be shorter than the run, which has %s %s, is %s: a cosine falls after the warm-up", component.Number(r.Length), r.Unit, component.Number(r.Warmup)))
	}
	return out
}

func (c Cosine) rate(s Schedule, step int) float64 {
	if step >= s.Total {
		return c.MinLR
	}
	done := float64(step-s.Warmup) / float64(s.Total-s.Warmup)
	return c.MinLR + float64((s.Base-c.MinLR)*(1+math.Cos(math.Pi*done))/2)
}
