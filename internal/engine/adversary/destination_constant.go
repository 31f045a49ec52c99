package adversary

import (
	"fmt"

	"tercet/internal/component"
)

func init() {
	Destinations.Register(component.Component[DestinationKeys]{Name: "constant", Doc: "one number", Defaults: ConstantHardness{}})
}

// ConstantHardness is one number; 2 is plain min-max training.
type ConstantHardness struct {
	Value float64 `yaml:"value" check:">=-2,<=2" doc:"the hardness; the paper has 0, -gamma/2 and -gamma"`
}

func (k ConstantHardness) set(d *Destination) { d.Value = k.Value }

func (ConstantHardness) check(d Destination) error {
	if !(d.Value >= -2 && d.Value <= 2) {
		return fmt.Errorf("hm: destination: value is %v, want a hardness from -2 to 2", d.Value)
	}
	return nil
}

func (ConstantHardness) pseudo(d Destination, _ float64) float64 { return d.Value }
