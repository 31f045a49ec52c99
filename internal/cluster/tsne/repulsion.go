package tsne

import "tercet/internal/par"

// repulsion sums the forces of all points on each by their tree.
type repulsion struct {
	tree  *tree
	reach float64 // squared: (r + r')^2 < reach (1 + d^2) lets cells act as wholes
	phi   []float64
	force []point // by rows: sum over j of (1+d_ij^2)^-2 (y_i - y_j)
	tasks []task
	near  []int32 // lists of all tasks
	walks par.Free[walk]
}

// task is a cell whose points one thread does, with what is not yet summed at it.
type task struct {
	cell   int32
	lo, hi int // in near
	far    polynomial
}

// walk is the scratch of one thread.
type walk struct {
	r      *repulsion
	lists  []int32 // cells that are left to the children, a stack
	open   []int32
	leafs  []int32 // leaves near a leaf
	points []point // of these leaves
}

func newRepulsion(n int, theta float64) *repulsion {
	return &repulsion{tree: newTree(n), reach: theta * theta, phi: make([]float64, n), force: make([]point, n)}
}

// taskPoints is the number of points up to which a cell is one task.
const taskPoints = 256

// at sets the forces at y, unnormalized, and returns Z, the sum of (1+d_ij^2)^-1 over
// ordered pairs.
func (r *repulsion) at(y []point) float64 {
	r.tree.build(y)
	r.tasks, r.near = r.tasks[:0], r.near[:0]
	w := r.walk()
	w.lists = append(w.lists[:0], 0)
	w.visit(0, 0, 1, polynomial{}, true)
	r.walks.Put(w)
	par.Do(len(r.tasks), 1, r)
	z := 0.0
	for _, v := range r.phi {
		z += v
	}
	return z - float64(len(y)) // each point met itself
}

func (r *repulsion) walk() *walk {
	w := r.walks.Get()
	w.r = r
	return w
}

// Run does tasks [lo, hi).
func (r *repulsion) Run(lo, hi int) {
	w := r.walk()
	for _, t := range r.tasks[lo:hi] {
		w.lists = append(w.lists[:0], r.near[t.lo:t.hi]...)
		w.visit(t.cell, 0, len(w.lists), t.far, false)
	}
	r.walks.Put(w)
}

// visit sums at the points of a cell what the cells lists[lo:hi] and far do to it.
// Where split is set it makes tasks of the cells that are small enough.
func (w *walk) visit(at int32, lo, hi int, far polynomial, split bool) {
	r := w.r
	cells := r.tree.cells
	c := &cells[at]
	if split && (c.hi-c.lo <= taskPoints || c.childs == 0) {
		start := len(r.near)
		r.near = append(r.near, w.lists[lo:hi]...)
		r.tasks = append(r.tasks, task{at, start, len(r.near), far})
		return
	}
	w.lists = w.lists[:hi]
	w.leafs = w.leafs[:0]
	for _, first := range w.lists[lo:hi] {
		w.open = append(w.open[:0], first)
		for len(w.open) > 0 {
			last := len(w.open) - 1
			id := w.open[last]
			w.open = w.open[:last]
			s := &cells[id]
			x, y, radii := c.x-s.x, c.y-s.y, c.radius+s.radius
			switch {
			case radii*radii < r.reach*(1+float64(x*x)+float64(y*y)):
				far.add(x, y, s)
			case s.childs > 0 && (c.childs == 0 || s.radius > c.radius):
				for k := s.childs - 1; k >= 0; k-- {
					w.open = append(w.open, s.child+k)
				}
			case c.childs == 0:
				w.leafs = append(w.leafs, id)
			default:
				w.lists = append(w.lists, id)
			}
		}
	}
	if c.childs == 0 {
		w.leaf(c, &far)
		return
	}
	end := len(w.lists)
	for k := range c.childs {
		child := &cells[c.child+k]
		w.visit(c.child+k, hi, end, far.moved(child.x-c.x, child.y-c.y), split)
	}
}

// leaf finishes the points of a leaf: far cells by the polynomial, near ones by
// their points.
func (w *walk) leaf(c *cell, far *polynomial) {
	t := w.r.tree
	w.points = w.points[:0]
	for _, id := range w.leafs {
		s := &t.cells[id]
		w.points = append(w.points, t.y[s.lo:s.hi]...)
	}
	for k := c.lo; k < c.hi; k++ {
		p := t.y[k]
		v, gx, gy := far.at(p.x-c.x, p.y-c.y)
		phi, f := direct(p, w.points)
		row := t.order[k]
		w.r.phi[row] = v + phi
		w.r.force[row] = point{f.x - float64(gx/2), f.y - float64(gy/2)}
	}
}

// direct sums over points: (1+d^2)^-1, and (1+d^2)^-2 times the vector from them to p.
func direct(p point, points []point) (phi float64, force point) {
	for _, q := range points {
		x, y := p.x-q.x, p.y-q.y
		w := 1 / (1 + float64(x*x) + float64(y*y))
		phi += w
		w *= w
		force.x += float64(w * x)
		force.y += float64(w * y)
	}
	return phi, force
}
