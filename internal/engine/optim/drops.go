package optim

import (
	"math"

	"tercet/internal/component"
)

func init() {
	Schedules.Register(component.Component[ScheduleKeys]{Name: "step", Doc: "drops at regular distances",
		Defaults: Drops{Every: component.Span{N: 30, Unit: "epochs"}, Gamma: 0.1}})
}

// Drops multiplies the learning rate by Gamma at every multiple of Every.
type Drops struct {
	Every component.Span `yaml:"every" units:"epochs,steps" check:">0" doc:"distance of two drops"`
	Gamma float64        `yaml:"gamma" check:">0,<=1" doc:"factor by which the learning rate drops"`
}

func (d Drops) rate(s Schedule, step int) float64 {
	drops := step / max(1, d.Every.Steps(s.PerEpoch))
	return s.Base * math.Pow(d.Gamma, float64(drops))
}
