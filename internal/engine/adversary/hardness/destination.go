package hardness

import (
	"fmt"
	"math"
	"strings"

	"tercet/internal/component"
)

// Destinations is the destinations that a config can name. A destination registers
// itself in its file; each sampler of package mine is one, too.
var Destinations = component.NewFamily[Keys]("lga", "lga-squared", "lga-root", "constant", "boost",
	"random", "semihard", "softhard", "softhard-strict", "distance-weighted", "hardest")

// Keys are the keys of a destination, and what it does.
type Keys interface {
	// Set writes the keys that are given over the defaults in d.
	Set(d *Destination)
	// Fault returns an error about a field of d that the destination uses.
	Fault(d Destination) error
	// Pseudo returns the part of the hardness that is one number for the whole batch, l
	// being the normalized loss of the step before.
	Pseudo(d Destination, l float64) float64
}

// sampling is implemented by destinations that draw triplets.
type sampling interface{ sampler(d Destination) string }

// Following is implemented by destinations that follow the loss.
type Following interface {
	// AgainstMargin reports whether the margin of the loss sets its scale: u or gamma is
	// left open.
	AgainstMargin() bool
	// Given names the keys that set it instead.
	Given() string
}

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
func (d Destination) keys() Keys {
	c, _ := Destinations.Lookup(d.Name)
	return c.Defaults
}

// Gradual reports whether d depends on the loss of the step before.
func (d Destination) Gradual() bool {
	_, ok := d.keys().(Following)
	return ok
}

// Draws returns the sampler that d draws from, or "".
func (d Destination) Draws() string {
	if s, ok := d.keys().(sampling); ok {
		return s.sampler(d)
	}
	return ""
}

// Validate returns an error about a name that is unknown, or a field that the destination uses.
func (d Destination) Validate() error {
	k := d.keys()
	if k == nil {
		return fmt.Errorf("hm: unknown destination %q (valid: %s)", d.Name, strings.Join(Destinations.Names(), ", "))
	}
	return k.Fault(d)
}

// checkU returns an error unless the loss that counts as 1 is one.
func (d Destination) checkU() error {
	if !(d.U > 0 && d.U <= math.MaxFloat64) {
		return fmt.Errorf("hm: destination %s: u is %v, want a finite loss > 0", d.Name, d.U)
	}
	return nil
}

// Pseudo returns the part of d that is one number for the whole batch, given the loss
// of the step before: the hardness itself, or what is added to that of triplets drawn.
func (d Destination) Pseudo(previous float64) float64 {
	return d.keys().Pseudo(d, min(max(previous, 0), d.U)/d.U)
}
