package attack

import (
	"fmt"
	"strings"

	"tercet/internal/engine/adversary"
	"tercet/internal/engine/nn"
)

// Source is a set of images in a fixed order; every data.Dataset is one.
type Source interface {
	// Len returns the number of images N.
	Len() int
	// Shape returns height, width and channels.
	Shape() (h, w, c int)
	// Read writes image i, H*W*C pixels in [0, 1], to dst. It is safe for
	// concurrent use.
	Read(i int, dst []float32) error
}

// Profile is a named budget of an L-infinity attack.
type Profile struct {
	Name       string
	Eps, Step  float64 // pixels in [0, 1]
	Iterations int
	Batch      int // queries that published scores are first averaged over
}

// Profiles lists the budgets of robrank, as the papers state them: rob28 for
// 28x28 images and rob224 for photographs. The official code has the truncated
// decimals 0.30196, 0.03137 and 0.011764 instead of 77/255, 8/255 and 3/255:
// smaller by at most 3e-6.
func Profiles() []Profile {
	return []Profile{
		{"rob28", 77. / 255, 3. / 255, 32, DefaultBatch},
		{"rob224", 8. / 255, 3. / 255, 32, 112},
	}
}

// ProfileNamed returns the profile of that name.
func ProfileNamed(name string) (Profile, error) {
	var names []string
	for _, p := range Profiles() {
		if p.Name == name {
			return p, nil
		}
		names = append(names, p.Name)
	}
	return Profile{}, fmt.Errorf("attack: unknown profile %q (valid: %s)", name, strings.Join(names, ", "))
}

// PGD returns the published attack of that budget: sign steps from the clean
// image, one run, the last iterate, batch norm frozen, one step of eps if
// Iterations is 1.
func (p Profile) PGD() adversary.PGD {
	return adversary.PGD{
		Norm: adversary.Linf, Eps: p.Eps, Step: p.Step, Iterations: p.Iterations,
		Direction: adversary.Sign, Rule: adversary.Fixed, Start: adversary.FromClean,
		Restarts: 1, Keep: adversary.Last, FGSM: true, Mode: nn.Eval,
	}
}
