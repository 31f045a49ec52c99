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
// (proof of Corollary 1), or Tight, L = 4 B^2 and alpha = 4 B^4. They are the same for
// both signs of the loss (S4).
//
// Tight: for a = x - y and b = x - z, ||a a^T - b b^T|| is at most 4 B^2. In units of
// B, let x be on the sphere, as the norm is convex in x, and p, q the angles of a and b
// to it: ||a|| <= 2 cos p and ||b|| <= 2 cos q. The squared norm is convex in ||a||^2
// and in ||b||^2. With s = p + q < 90 degrees, the largest angle between them, it is at
// full lengths 16 sin^2 s (sin^2(p-q) + 2 cos^2 p cos^2 q) <= 16 (1 - cos^4 s), and at
// most 16 where one is 0; beyond 90 degrees it is at most (||a||^2 + ||b||^2)^2 <= 16.
// The first derivative of phi is at most 1, the second 1/4.
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
		return fmt.Errorf("%w: the loss is given by a radius and by constants; give one of them", ErrInput)
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
