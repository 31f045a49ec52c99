package adversary

import (
	"fmt"
	"math"
	"strings"

	"tercet/internal/component"
)

// Destinations is the destinations that a config can name. A destination registers
// itself in its file; each sampler of package mine is one, too.
var Destinations = component.NewFamily[DestinationKeys]("lga", "lga-squared", "lga-root", "constant", "boost",
	"random", "semihard", "softhard", "softhard-strict", "distance-weighted", "hardest")

// DestinationKeys are the keys of a destination, and what it does.
type DestinationKeys interface {
	// set writes the keys that are given over the defaults in d.
	set(d *Destination)
	// check returns an error about a field of d that the destination uses.
	check(d Destination) error
	// pseudo returns the part of the hardness that is one number for the whole batch, l
	// being the normalized loss of the step before.
	pseudo(d Destination, l float64) float64
}

// sampling is implemented by destinations that draw triplets.
type sampling interface{ sampler(d Destination) string }

// following is implemented by destinations that follow the loss.
type following interface {
	// againstMargin reports whether the margin of the loss sets its scale: u or gamma is
	// left open.
	againstMargin() bool
	// given names the keys that set it instead.
	given() string
}

// Hardness of a triplet is H = d(a,p) - d(a,n), from -2 to 2 on the unit sphere.

// Destination says what hardness triplets are driven to. Name is one of Destinations.
//
// The normalized loss l is min(u, loss)/u of the step before, in [0, 1]: the better the
// model does, the harder its adversaries (Zhou & Patel, CVPR 2022, section 3.2;
// supplement, eqs. 15 and 16).
type Destination struct {
	Name    string
	Value   float64 // constant
	Sampler string  // boost: whose hardness
	Xi      float64 // boost; 0.1 in the paper
	Gamma   float64 // lga, lga-squared, lga-root
	U       float64 // boost, lga, lga-squared, lga-root: the loss that counts as 1
}

// keys returns the description of d; nil where there is none.
func (d Destination) keys() DestinationKeys {
	c, _ := Destinations.Lookup(d.Name)
	return c.Defaults
}

// gradual reports whether d depends on the loss of the step before.
func (d Destination) gradual() bool {
	_, ok := d.keys().(following)
	return ok
}

// sampler returns the sampler that d draws from, or "".
func (d Destination) sampler() string {
	if s, ok := d.keys().(sampling); ok {
		return s.sampler(d)
	}
	return ""
}

func (d Destination) validate() error {
	k := d.keys()
	if k == nil {
		return fmt.Errorf("hm: unknown destination %q (valid: %s)", d.Name, strings.Join(Destinations.Names(), ", "))
	}
	return k.check(d)
}

// checkU returns an error unless the loss that counts as 1 is one.
func (d Destination) checkU() error {
	if !(d.U > 0 && finite(d.U)) {
		return fmt.Errorf("hm: destination %s: u is %v, want a finite loss > 0", d.Name, d.U)
	}
	return nil
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// pseudo returns the part of d that is one number for the whole batch, given the loss
// of the step before: the hardness itself, or what is added to that of triplets drawn.
func (d Destination) pseudo(previous float64) float64 {
	return d.keys().pseudo(d, min(max(previous, 0), d.U)/d.U)
}
