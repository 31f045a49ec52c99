package hardness

import (
	"fmt"
	"math"

	"tercet/internal/component"
)

func init() {
	for name, doc := range map[string]string{
		"lga":         "-gamma l, l the loss of the step before over u (linear gradual adversary)",
		"lga-squared": "-gamma l^2",
		"lga-root":    "-gamma sqrt(l)",
	} {
		Destinations.Register(component.Component[Keys]{Name: name, Doc: doc, Defaults: Gradual{}})
	}
}

// Gradual are the pseudo-hardnesses g_LGA = -gamma l, g_2 = -gamma l^2 and
// g_1/2 = -gamma sqrt(l).
type Gradual struct {
	Gamma *float64 `yaml:"gamma" check:">=0,<=2" doc:"the easiest destination is -GAMMA; null takes the loss's margin"`
	U     *float64 `yaml:"u" check:">0" doc:"the loss that counts as 1; null takes the loss's margin"`
}

func (k Gradual) Set(d *Destination) {
	if k.Gamma != nil {
		d.Gamma = *k.Gamma
	}
	if k.U != nil {
		d.U = *k.U
	}
}

func (Gradual) Fault(d Destination) error {
	if err := d.checkU(); err != nil {
		return err
	}
	if !(d.Gamma >= 0 && d.Gamma <= 2) {
		return fmt.Errorf("hm: destination %s: gamma is %v, want a margin from 0 to 2", d.Name, d.Gamma)
	}
	return nil
}

func (k Gradual) AgainstMargin() bool { return k.U == nil || k.Gamma == nil }

func (Gradual) Given() string { return "u and gamma" }

func (Gradual) Pseudo(d Destination, l float64) float64 {
	switch d.Name {
	case "lga-squared":
		return -d.Gamma * l * l
	case "lga-root":
		return -d.Gamma * math.Sqrt(l)
	}
	return -d.Gamma * l
}
