package stability

import "fmt"

// Loss says how fast a loss may change with the model: either by L and Alpha, or by
// Radius, of the logistic triplet loss of eq. 6 (with either sign) on points x with
// ||x|| <= Radius.
type Loss struct {
	L      float64 // Lipschitz constant
	Alpha  float64 // smoothness
	Radius float64 // B
}

// Logistic returns L and alpha of the logistic triplet loss (eq. 6) on points within
// the ball of the given radius B, with constants Paper, L = 8 B^2 and alpha = 64 B^4
// (proof of Corollary 1), or Tight, L = 4 B^2 and alpha = 4 B^4: the supremum of
// ||a a^T - b b^T|| over differences a, b of two points is 4 B^2, and the second derivative of phi at most 1/4.
// They are the same for both signs of the loss (S4).
func Logistic(radius float64, constants string) (l, alpha float64, err error) {
	if err := positive("radius", radius, "the points lie in a ball ||x|| <= B of this radius (Corollary 1)"); err != nil {
		return 0, 0, err
	}
	b := radius * radius
	switch constants {
	case Paper:
		return 8 * b, 64 * b * b, nil
	case Tight:
		return 4 * b, 4 * b * b, nil
	}
	return 0, 0, fmt.Errorf("%w: constants are %q; choose %s or %s", ErrInput, constants, Paper, Tight)
}

// both tells a loss that is given in two ways.
func (l Loss) both() error {
	if l.Radius != 0 && (l.L != 0 || l.Alpha != 0) {
		return fmt.Errorf("%w: the loss is given by a radius and by constants of its own; give one of them", ErrInput)
	}
	return nil
}

func (l Loss) lipschitz(o Options) (float64, error) {
	if l.Radius != 0 {
		v, _, err := Logistic(l.Radius, o.Constants)
		return v, first(l.both(), err)
	}
	return l.L, positive("L", l.L, "the loss must be L-Lipschitz (Definition 3)")
}

func (l Loss) smoothness(o Options) (float64, error) {
	if l.Radius != 0 {
		_, v, err := Logistic(l.Radius, o.Constants)
		return v, first(l.both(), err)
	}
	return l.Alpha, positive("alpha", l.Alpha, "the loss must be alpha-smooth (Definition 3)")
}
