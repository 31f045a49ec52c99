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
	a, b, c := float64(x*x), float64(y*y), x*y
	q := 1 / (1 + a + b)
	// Derivatives of g(u) = 1/(1+u), u = x^2 + y^2: 2g', 4g'', 8g''', 16g''''.
	g1 := float64(-2 * q * q)
	g2 := float64(-4 * q * g1)
	g3 := float64(-6 * q * g2)
	g4 := float64(-8 * q * g3)
	xx, xy, yy := g1+float64(a*g2), c*g2, g1+float64(b*g2)
	xxx, xxy := x*(float64(3*g2)+float64(a*g3)), y*(g2+float64(a*g3))
	xyy, yyy := x*(g2+float64(b*g3)), y*(float64(3*g2)+float64(b*g3))
	xxxx, xxxy := float64(3*g2)+float64(a*(float64(6*g3)+float64(a*g4))), c*(float64(3*g3)+float64(a*g4))
	xxyy := g2 + float64((a+b)*g3) + float64(a*b*g4)
	xyyy, yyyy := c*(float64(3*g3)+float64(b*g4)), float64(3*g2)+float64(b*(float64(6*g3)+float64(b*g4)))
	n, mxx, mxy, myy := s.n, s.xx/2, s.xy, s.yy/2
	p.v += float64(n*q) + (float64(mxx*xx) + float64(mxy*xy) + float64(myy*yy))
	p.x += float64(n*x*g1) + (float64(mxx*xxx) + float64(mxy*xxy) + float64(myy*xyy))
	p.y += float64(n*y*g1) + (float64(mxx*xxy) + float64(mxy*xyy) + float64(myy*yyy))
	p.xx += float64(n*xx) + (float64(mxx*xxxx) + float64(mxy*xxxy) + float64(myy*xxyy))
	p.xy += float64(n*xy) + (float64(mxx*xxxy) + float64(mxy*xxyy) + float64(myy*xyyy))
	p.yy += float64(n*yy) + (float64(mxx*xxyy) + float64(mxy*xyyy) + float64(myy*yyyy))
	p.xxx += float64(n * xxx)
	p.xxy += float64(n * xxy)
	p.xyy += float64(n * xyy)
	p.yyy += float64(n * yyy)
	p.xxxx += float64(n * xxxx)
	p.xxxy += float64(n * xxxy)
	p.xxyy += float64(n * xxyy)
	p.xyyy += float64(n * xyyy)
	p.yyyy += float64(n * yyyy)
}

// moved returns the same polynomial about the place (x, y) from its center.
func (p *polynomial) moved(x, y float64) polynomial {
	a, b, c := x*x/2, x*y, y*y/2
	m := polynomial{
		xx:   p.xx + float64(x*p.xxx) + float64(y*p.xxy) + float64(a*p.xxxx) + float64(b*p.xxxy) + float64(c*p.xxyy),
		xy:   p.xy + float64(x*p.xxy) + float64(y*p.xyy) + float64(a*p.xxxy) + float64(b*p.xxyy) + float64(c*p.xyyy),
		yy:   p.yy + float64(x*p.xyy) + float64(y*p.yyy) + float64(a*p.xxyy) + float64(b*p.xyyy) + float64(c*p.yyyy),
		xxx:  p.xxx + float64(x*p.xxxx) + float64(y*p.xxxy),
		xxy:  p.xxy + float64(x*p.xxxy) + float64(y*p.xxyy),
		xyy:  p.xyy + float64(x*p.xxyy) + float64(y*p.xyyy),
		yyy:  p.yyy + float64(x*p.xyyy) + float64(y*p.yyyy),
		xxxx: p.xxxx, xxxy: p.xxxy, xxyy: p.xxyy, xyyy: p.xyyy, yyyy: p.yyyy,
	}
	m.v, m.x, m.y = p.at(x, y)
	return m
}

// at returns value and gradient at (x, y) from the center.
func (p *polynomial) at(x, y float64) (v, gx, gy float64) {
	// The gradients of the terms of each degree, the value's by Euler.
	gx2, gy2 := float64(x*p.xx)+float64(y*p.xy), float64(x*p.xy)+float64(y*p.yy)
	a, b, c := x*x/2, x*y, y*y/2
	gx3, gy3 := float64(a*p.xxx)+float64(b*p.xxy)+float64(c*p.xyy), float64(a*p.xxy)+float64(b*p.xyy)+float64(c*p.yyy)
	d, e, f, g := x*a/3, y*a, x*c, y*c/3
	gx4, gy4 := float64(d*p.xxxx)+float64(e*p.xxxy)+float64(f*p.xxyy)+float64(g*p.xyyy), float64(d*p.xxxy)+float64(e*p.xxyy)+float64(f*p.xyyy)+float64(g*p.yyyy)
	v = p.v + float64(x*(p.x+float64(gx2/2)+gx3/3+float64(gx4/4))) + float64(y*(p.y+float64(gy2/2)+gy3/3+float64(gy4/4)))
	return v, p.x + gx2 + gx3 + gx4, p.y + gy2 + gy3 + gy4
}
