package tsne

// The repulsion of point i comes from the potential phi(y) = sum over j of
// (1+||y-y_j||^2)^-1: its value at y_i sums to Z, and
// sum over j of (1+||y_i-y_j||^2)^-2 (y_i-y_j) = -1/2 grad phi(y_i).
//
// Far cells act on a cell through phi's Taylor polynomial of fourth degree about the
// cell's center, with their points' mass and second moments (Greengard and Rokhlin
// 1987): forces miss terms of fourth order in the two cells' radii over
// sqrt(1+d^2), the distance to the nearest singularity of (1+d^2)^-1 in the complex
// plane.

// polynomial holds the derivatives of phi at a center.
type polynomial struct {
	v, x, y                      float64
	xx, xy, yy                   float64
	xxx, xxy, xyy, yyy           float64
	xxxx, xxxy, xxyy, xyyy, yyyy float64
}

// add adds the potential of the points of s, (x, y) from its center of mass.
func (p *polynomial) add(x, y float64, s *cell) {
	a, b, c := x*x, y*y, x*y
	q := 1 / (1 + a + b)
	// Derivatives of g(u) = 1/(1+u), u = x^2 + y^2: 2g', 4g'', 8g''', 16g''''.
	g1 := -2 * q * q
	g2 := -4 * q * g1
	g3 := -6 * q * g2
	g4 := -8 * q * g3
	xx, xy, yy := g1+a*g2, c*g2, g1+b*g2
	xxx, xxy := x*(3*g2+a*g3), y*(g2+a*g3)
	xyy, yyy := x*(g2+b*g3), y*(3*g2+b*g3)
	xxxx, xxxy := 3*g2+a*(6*g3+a*g4), c*(3*g3+a*g4)
	xxyy := g2 + (a+b)*g3 + a*b*g4
	xyyy, yyyy := c*(3*g3+b*g4), 3*g2+b*(6*g3+b*g4)
	n, mxx, mxy, myy := s.n, s.xx/2, s.xy, s.yy/2
	p.v += n*q + (mxx*xx + mxy*xy + myy*yy)
	p.x += n*x*g1 + (mxx*xxx + mxy*xxy + myy*xyy)
	p.y += n*y*g1 + (mxx*xxy + mxy*xyy + myy*yyy)
	p.xx += n*xx + (mxx*xxxx + mxy*xxxy + myy*xxyy)
	p.xy += n*xy + (mxx*xxxy + mxy*xxyy + myy*xyyy)
	p.yy += n*yy + (mxx*xxyy + mxy*xyyy + myy*yyyy)
	p.xxx += n * xxx
	p.xxy += n * xxy
	p.xyy += n * xyy
	p.yyy += n * yyy
	p.xxxx += n * xxxx
	p.xxxy += n * xxxy
	p.xxyy += n * xxyy
	p.xyyy += n * xyyy
	p.yyyy += n * yyyy
}

// moved returns the same polynomial about the place (x, y) from its center.
func (p *polynomial) moved(x, y float64) polynomial {
	a, b, c := x*x/2, x*y, y*y/2
	m := polynomial{
		xx:   p.xx + x*p.xxx + y*p.xxy + a*p.xxxx + b*p.xxxy + c*p.xxyy,
		xy:   p.xy + x*p.xxy + y*p.xyy + a*p.xxxy + b*p.xxyy + c*p.xyyy,
		yy:   p.yy + x*p.xyy + y*p.yyy + a*p.xxyy + b*p.xyyy + c*p.yyyy,
		xxx:  p.xxx + x*p.xxxx + y*p.xxxy,
		xxy:  p.xxy + x*p.xxxy + y*p.xxyy,
		xyy:  p.xyy + x*p.xxyy + y*p.xyyy,
		yyy:  p.yyy + x*p.xyyy + y*p.yyyy,
		xxxx: p.xxxx, xxxy: p.xxxy, xxyy: p.xxyy, xyyy: p.xyyy, yyyy: p.yyyy,
	}
	m.v, m.x, m.y = p.at(x, y)
	return m
}

// at returns value and gradient at (x, y) from the center.
func (p *polynomial) at(x, y float64) (v, gx, gy float64) {
	// The gradients of the terms of each degree, the value's by Euler.
	gx2, gy2 := x*p.xx+y*p.xy, x*p.xy+y*p.yy
	a, b, c := x*x/2, x*y, y*y/2
	gx3, gy3 := a*p.xxx+b*p.xxy+c*p.xyy, a*p.xxy+b*p.xyy+c*p.yyy
	d, e, f, g := x*a/3, y*a, x*c, y*c/3
	gx4, gy4 := d*p.xxxx+e*p.xxxy+f*p.xxyy+g*p.xyyy, d*p.xxxy+e*p.xxyy+f*p.xyyy+g*p.yyyy
	v = p.v + x*(p.x+gx2/2+gx3/3+gx4/4) + y*(p.y+gy2/2+gy3/3+gy4/4)
	return v, p.x + gx2 + gx3 + gx4, p.y + gy2 + gy3 + gy4
}
