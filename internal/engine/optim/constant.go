package optim

import "tercet/internal/component"

func init() {
	Schedules.Register(component.Component[ScheduleKeys]{Name: "constant", Doc: "the same rate throughout", Defaults: Constant{}})
}

// Constant keeps the learning rate.
type Constant struct{}

func (Constant) rate(s Schedule, step int) float64 { return s.Base }
