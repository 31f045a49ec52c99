package tsne

import (
	"errors"
	"fmt"
)

// ErrInput is wrapped by every error about data or options that cannot be drawn.
var ErrInput = errors.New("cannot draw a map")

// Starts of a map.
const (
	InitPCA    = "pca"
	InitRandom = "random"
)

// Options says how Run draws; in brackets what 0 stands for.
type Options struct {
	// Perplexity is the effective number of neighbors of a point [30]. It is
	// lowered to (n-1)/3, with a warning, where there are fewer points.
	Perplexity float64
	Iterations int // in all [1000]
	// P is multiplied by Exaggeration [12] in the first ExaggerationIterations
	// [250, or all where fewer]; -1 leaves them out.
	ExaggerationIterations int
	Exaggeration           float64
	// LearningRate multiplies the gradient, which has the factor 4 of the paper
	// [max(n/12/4, 50), with the exaggeration in place of 12]. Programs that leave
	// the factor out want four times the number.
	LearningRate float64
	// Theta bounds the cells that act on one another as wholes: their radii sum to
	// less than Theta*sqrt(1+d^2), d apart. The error of the forces is about 0.5 %
	// at 0.5, where Barnes and Hut's own method has 2 %. 0 is the exact map, by all
	// pairs, in O(n^2) time and 4 n^2 bytes.
	Theta float64
	// Init is InitPCA [default], the first two principal components scaled to a
	// standard deviation of 1e-4 along the first, or InitRandom, normal numbers of
	// that deviation.
	Init string
	Seed uint64
	// Progress, where set, is called every 50 iterations with KL(P||Q), without
	// exaggeration.
	Progress func(iteration int, kl float64)
}

// Usual is Theta as people choose it for Barnes and Hut's method.
const Usual = 0.5

// MostExact is the number of points up to which a map is drawn with all pairs.
const MostExact = 20_000

// minPerplexity is what few points get, so that each has more neighbors than one.
const minPerplexity = 2

// set fills in what was left open, checks it and returns warnings.
func (o *Options) set(n int) ([]string, error) {
	def := func(v *float64, to float64) {
		if *v == 0 {
			*v = to
		}
	}
	def(&o.Perplexity, 30)
	def(&o.Exaggeration, 12)
	def(&o.LearningRate, max(float64(n)/o.Exaggeration/4, 50))
	if o.Iterations == 0 {
		o.Iterations = 1000
	}
	switch {
	case o.ExaggerationIterations == 0:
		o.ExaggerationIterations = 250
	case o.ExaggerationIterations < 0:
		o.ExaggerationIterations = 0
	}
	o.ExaggerationIterations = min(o.ExaggerationIterations, o.Iterations)
	if o.Init == "" {
		o.Init = InitPCA
	}
	finite := func(v float64) bool { return v-v == 0 }
	switch {
	case o.Iterations < 0:
		return nil, fmt.Errorf("%w: %d iterations", ErrInput, o.Iterations)
	case !(o.Perplexity >= 1) || !finite(o.Perplexity):
		return nil, fmt.Errorf("%w: perplexity %v: choose 1 or more, usually 5 to 50", ErrInput, o.Perplexity)
	case !(o.Exaggeration > 0) || !finite(o.Exaggeration):
		return nil, fmt.Errorf("%w: exaggeration %v must be positive", ErrInput, o.Exaggeration)
	case !(o.LearningRate > 0) || !finite(o.LearningRate):
		return nil, fmt.Errorf("%w: learning rate %v must be positive", ErrInput, o.LearningRate)
	case !(o.Theta >= 0 && o.Theta <= 1):
		return nil, fmt.Errorf("%w: theta %v: choose 0 (exact) to 1, usually 0.5", ErrInput, o.Theta)
	case o.Init != InitPCA && o.Init != InitRandom:
		return nil, fmt.Errorf("%w: start %q: choose %s or %s", ErrInput, o.Init, InitPCA, InitRandom)
	case o.Theta == 0 && n > MostExact:
		return nil, fmt.Errorf("%w: the exact map of %d points needs %.0f GB: choose theta 0.5, or at most %d points", ErrInput, n, 4*float64(n)*float64(n)/1e9, MostExact)
	}
	var warnings []string
	most := float64(n-1) / 3
	if most = max(most, min(minPerplexity, float64(n-1))); n > 1 && o.Perplexity > most {
		warnings = append(warnings, fmt.Sprintf("perplexity %.4g is too large for %d points: used %.4g", o.Perplexity, n, most))
		o.Perplexity = most
	}
	return warnings, nil
}
