package hardness

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"tercet/internal/component"
	"tercet/internal/engine/mine"
)

func init() {
	Destinations.Register(component.Component[Keys]{Name: "boost", Doc: "a sampler's hardness plus xi (1 - l) (g_B)", Defaults: Boosted{Sampler: "semihard", Xi: 0.1}})
}

// Boosted is g_B: a sampler's hardness, raised as the loss falls.
type Boosted struct {
	Sampler string   `yaml:"sampler" enum:"@miners of one triplet" doc:"whose hardness is raised"`
	Xi      float64  `yaml:"xi" check:">=0" doc:"what is added at a loss of 0"`
	U       *float64 `yaml:"u" check:">0" doc:"the loss that counts as 1; null takes the loss's margin"`
}

func (k Boosted) Set(d *Destination) {
	d.Sampler, d.Xi = k.Sampler, k.Xi
	if k.U != nil {
		d.U = *k.U
	}
}

func (Boosted) Fault(d Destination) error {
	switch {
	case !slices.Contains(mine.Samplers(), d.Sampler):
		return fmt.Errorf("hm: destination boost: unknown sampler %q (valid: %s)", d.Sampler, strings.Join(mine.Samplers(), ", "))
	case !(d.Xi >= 0 && d.Xi <= math.MaxFloat64):
		return fmt.Errorf("hm: destination boost: xi is %v, want a finite number >= 0", d.Xi)
	}
	return d.checkU()
}

func (k Boosted) AgainstMargin() bool { return k.U == nil }

func (Boosted) Given() string { return "u" }

func (Boosted) sampler(d Destination) string { return d.Sampler }

func (Boosted) Pseudo(d Destination, l float64) float64 { return d.Xi * (1 - l) }
