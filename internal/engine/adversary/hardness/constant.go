package hardness

import (
	"fmt"

	"tercet/internal/component"
)

func init() {
	Destinations.Register(component.Component[Keys]{Name: "constant", Doc: "one number", Defaults: Constant{}})
}

// Constant is one number; 2 is plain min-max training.
type Constant struct {
	Value float64 `yaml:"value" check:">=-2,<=2" doc:"the hardness; the paper has 0, -gamma/2 and -gamma"`
}

func (k Constant) Set(d *Destination) { d.Value = k.Value }

func (Constant) Fault(d Destination) error {
	if !(d.Value >= -2 && d.Value <= 2) {
		return fmt.Errorf("hm: destination: value is %v, want a hardness from -2 to 2", d.Value)
	}
	return nil
}

func (Constant) Pseudo(d Destination, _ float64) float64 { return d.Value }
