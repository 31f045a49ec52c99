package adversary

import (
	"fmt"
	"slices"
	"strings"

	"tercet/internal/component"
	"tercet/internal/engine/mine"
)

func init() {
	Destinations.Register(component.Component[DestinationKeys]{Name: "boost", Doc: "a sampler's hardness plus xi (1 - l) (g_B)", Defaults: BoostedHardness{Sampler: "semihard", Xi: 0.1}})
}

// BoostedHardness is g_B: a sampler's hardness, raised as the loss falls.
type BoostedHardness struct {
	Sampler string   `yaml:"sampler" enum:"@miners of one triplet" doc:"whose hardness is raised"`
	Xi      float64  `yaml:"xi" check:">=0" doc:"what is added at a loss of 0"`
	U       *float64 `yaml:"u" check:">0" doc:"the loss that counts as 1; null takes the loss's margin"`
}

func (k BoostedHardness) set(d *Destination) {
	d.Sampler, d.Xi = k.Sampler, k.Xi
	given(&d.U, k.U)
}

func (BoostedHardness) check(d Destination) error {
	switch {
	case !slices.Contains(mine.Samplers(), d.Sampler):
		return fmt.Errorf("hm: destination boost: unknown sampler %q (valid: %s)", d.Sampler, strings.Join(mine.Samplers(), ", "))
	case !(d.Xi >= 0 && finite(d.Xi)):
		return fmt.Errorf("hm: destination boost: xi is %v, want a finite number >= 0", d.Xi)
	}
	return d.checkU()
}

func (k BoostedHardness) againstMargin() bool { return k.U == nil }

func (BoostedHardness) given() string { return "u" }

func (BoostedHardness) sampler(d Destination) string { return d.Sampler }

func (BoostedHardness) pseudo(d Destination, l float64) float64 { return d.Xi * (1 - l) }
