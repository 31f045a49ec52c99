package lp

import (
	"math"
	"slices"
)

// leaver is the variable or row that leaves the basis.
type leaver struct {
	place int   // of a variable in the kernel, or -1
	row   int32 // or a slack row
	gap   float64
	sign  float64 // +1: below its bound, -1: above
}

// entrant is what enters: a variable, or the slack of a tight row.
type entrant struct {
	variable int32 // or -1
	place    int   // of a tight row in the kernel
	ratio    float64
	element  float64 // of the tableau
}

// Solve runs the dual simplex method from the basis at hand until the program is
// solved, its value reaches cutoff (no solution counts as above it), Work passes
// limit, or it is stopped.
func (l *Problem) Solve(cutoff float64, limit int64) Status {
	for since := 1; ; since++ {
		if l.Work > limit || since%32 == 1 && l.Stopped() {
			return Limited
		}
		if l.stale >= fresh && !l.refresh() {
			return Limited
		}
		if since%32 == 0 && l.Value() >= cutoff {
			return Cutoff
		}
		exit, ok := l.leaving()
		if !ok {
			if l.stale == 0 {
				return Optimal
			}
			// Drift is looked for, not inverted away, where there is little.
			l.primal()
			if exit, ok = l.leaving(); !ok {
				return Optimal
			}
		}
		l.tableauRow(exit)
		in, ok := l.entering(exit.sign)
		if !ok {
			if l.hopeless(exit, cutoff) {
				return Cutoff
			}
			if l.stale == 0 {
				return Stuck
			}
			if !l.refresh() {
				return Limited
			}
			continue
		}
		if g := l.direction(exit, in); math.Abs(g-in.element) > drift*(1+math.Abs(g)) {
			l.settle()
			if l.stale == 0 {
				return Stuck
			}
			if !l.refresh() {
				return Limited
			}
			continue
		}
		l.pivot(exit, in)
	}
}

// leaving returns the variable or row furthest outside its bounds, in the measure of
// its weight.
func (l *Problem) leaving() (exit leaver, ok bool) {
	best := 0.0
	for p, j := range l.Kernel.Basic {
		gap, sign := l.Lo[j]-l.X[j], 1.0
		if over := l.X[j] - l.Hi[j]; over > gap {
			gap, sign = over, -1
		}
		if gap > feasible && gap*gap > best*l.weight[j] {
			best = gap * gap / l.weight[j]
			exit = leaver{p, -1, gap, sign}
		}
	}
	weight := l.weight[len(l.X):]
	for i, s := range l.slack {
		if s < -feasible && s*s > best*weight[i] && l.Kernel.tightAt[i] < 0 {
			best = s * s / weight[i]
			exit = leaver{-1, int32(i), -s, 1}
		}
	}
	l.Work += int64(len(l.slack) + l.Kernel.size())
	return exit, best > 0
}

// tableauRow writes what leaves in terms of all outside the basis: l.rho of the tight
// rows' slacks, l.row of the variables.
func (l *Problem) tableauRow(exit leaver) {
	k := &l.Kernel
	for _, j := range l.marked {
		l.row[j], l.mark[j] = 0, false
	}
	l.marked = l.marked[:0]
	put := func(j int32, v float64) {
		if !l.mark[j] {
			l.mark[j] = true
			l.marked = append(l.marked, j)
		}
		l.row[j] += float64(v) // a product of the caller
	}
	l.rho = slices.Grow(l.rho[:0], k.size())[:k.size()]
	if exit.place >= 0 {
		copy(l.rho, k.Row(exit.place))
	} else {
		clear(l.rho)
		col, val := l.Entries(exit.row)
		for e, j := range col {
			if p := k.at[j]; p >= 0 {
				addScaled(l.rho, k.Row(int(p)), val[e])
				l.Work += int64(k.size())
			} else {
				put(j, val[e])
			}
		}
	}
	for t, i := range k.Tight {
		r := l.rho[t]
		if math.Abs(r) < 1e-12 {
			l.rho[t] = 0
			continue
		}
		col, val := l.Entries(i)
		for e, j := range col {
			if k.at[j] < 0 {
				put(j, -r*val[e])
			}
		}
		l.Work += int64(len(col))
	}
}

// entering is the ratio test of Harris (1973): among what would be the first to lose
// dual feasibility, but for a tolerance, the largest pivot.
func (l *Problem) entering(sign float64) (entrant, bool) {
	const slip = 1e-10
	step := math.Inf(1)
	for t, i := range l.Kernel.Tight {
		if a := sign * l.rho[t]; a > pivot {
			step = min(step, (l.dual[i]+slip)/a)
		}
	}
	// A variable at its upper bound counts with both signs turned.
	eligible := func(j int32) (a, d float64, ok bool) {
		a, d = sign*l.row[j], l.reduced[j]
		if l.upper[j] {
			a, d = -a, -d
		}
		return a, d, a > pivot && l.Hi[j] > l.Lo[j]
	}
	for _, j := range l.marked {
		if a, d, ok := eligible(j); ok {
			step = min(step, (max(0, d)+slip)/a)
		}
	}
	if math.IsInf(step, 1) {
		return entrant{}, false
	}
	in := entrant{variable: -1}
	most := 0.0
	for t, i := range l.Kernel.Tight {
		if a := sign * l.rho[t]; a > pivot && l.dual[i] <= step*a && a > most {
			most = a
			in = entrant{-1, t, l.dual[i] / a, l.rho[t]}
		}
	}
	for _, j := range l.marked {
		if a, d, ok := eligible(j); ok && d <= step*a && a > most {
			most = a
			in = entrant{j, -1, max(0, d) / a, l.row[j]}
		}
	}
	return in, true
}

// direction fills l.dx and l.ds, how the basis moves where what enters grows by 1,
// and returns what that does to the leaving one.
func (l *Problem) direction(exit leaver, in entrant) float64 {
	k := &l.Kernel
	l.dx = slices.Grow(l.dx[:0], k.size())[:k.size()]
	put := func(i int32, v float64) {
		if !l.rowHit[i] {
			l.rowHit[i] = true
			l.moved = append(l.moved, i)
		}
		l.ds[i] += float64(v) // a product of the caller
	}
	if in.variable < 0 {
		for p := range l.dx {
			l.dx[p] = k.Row(p)[in.place]
		}
	} else {
		clear(l.dx)
		for _, e := range l.cols[in.variable] {
			t := k.tightAt[e.row]
			if t < 0 {
				put(e.row, e.val)
				continue
			}
			for p := range l.dx {
				l.dx[p] -= float64(e.val * k.inverse[p*k.wide+int(t)])
			}
			l.Work += int64(k.size())
		}
	}
	for p, v := range l.dx {
		if math.Abs(v) < 1e-12 {
			l.dx[p] = 0
			continue
		}
		column := l.cols[k.Basic[p]]
		for _, e := range column {
			if k.tightAt[e.row] < 0 {
				put(e.row, e.val*v)
			}
		}
		l.Work += int64(len(column))
	}
	if exit.place >= 0 {
		return l.dx[exit.place]
	}
	return l.ds[exit.row]
}

// settle clears what direction has filled.
func (l *Problem) settle() {
	for _, i := range l.moved {
		l.ds[i], l.rowHit[i] = 0, false
	}
	l.moved = l.moved[:0]
}

// pivot changes the basis.
func (l *Problem) pivot(exit leaver, in entrant) {
	k, m := &l.Kernel, len(l.X)
	g := in.element
	move := exit.sign * exit.gap / g
	theta := exit.sign * in.ratio

	// Dual values and weights.
	for t, i := range k.Tight {
		if r := l.rho[t]; r != 0 {
			l.dual[i] = max(0, l.dual[i]-float64(theta*r))
		}
	}
	for _, j := range l.marked {
		d := l.reduced[j] - float64(theta*l.row[j])
		if l.upper[j] {
			d = min(0, d)
		} else {
			d = max(0, d)
		}
		if l.Hi[j] > l.Lo[j] {
			l.reduced[j] = d
		} else {
			l.reduced[j] -= float64(theta * l.row[j])
		}
	}
	var old float64
	if exit.place >= 0 {
		old = l.weight[k.Basic[exit.place]]
	} else {
		old = l.weight[m+int(exit.row)]
	}
	scale := old / (g * g)
	if scale > weight { // a new frame of reference
		for i := range l.weight {
			l.weight[i] = 1
		}
		scale = 1
	}

	// Primal values.
	for p, v := range l.dx {
		if v != 0 {
			j := k.Basic[p]
			l.X[j] += float64(v * move)
			l.weight[j] = max(l.weight[j], v*v*scale)
		}
	}
	for _, i := range l.moved {
		v := l.ds[i]
		l.slack[i] += float64(v * move)
		l.weight[m+int(i)] = max(l.weight[m+int(i)], v*v*scale)
	}
	l.settle()
	l.enter(exit, in, move, max(1, scale))
	l.leave(exit, theta)

	switch {
	case in.variable >= 0 && exit.place >= 0:
		negate(l.dx)
		k.swapColumn(exit.place, in.variable, l.dx)
	case in.variable >= 0:
		negate(l.dx)
		k.grow(in.variable, exit.row, g, l.dx, l.rho)
	case exit.place >= 0:
		k.shrink(exit.place, in.place)
	default:
		k.swapRow(in.place, exit.row, l.rho)
	}
	l.Work += int64(k.size()) * int64(k.size())
	l.pivots++
	l.stale++
}

func (l *Problem) enter(exit leaver, in entrant, move, weight float64) {
	if j := in.variable; j >= 0 {
		l.X[j] += move
		l.reduced[j] = 0
		l.weight[j] = weight
		return
	}
	i := l.Kernel.Tight[in.place]
	l.slack[i], l.dual[i] = move, 0
	l.weight[len(l.X)+int(i)] = weight
}

func (l *Problem) leave(exit leaver, theta float64) {
	if exit.place < 0 {
		l.slack[exit.row], l.dual[exit.row] = 0, max(0, theta)
		return
	}
	j := l.Kernel.Basic[exit.place]
	l.reduced[j] = theta
	l.upper[j] = exit.sign < 0
	if l.upper[j] {
		l.X[j] = l.Hi[j]
	} else {
		l.X[j] = l.Lo[j]
	}
}

// hopeless reports whether the leaving row, which nothing can bring to its bound, shows
// that the program has no solution below cutoff: the duals may then grow without
// end along it.
func (l *Problem) hopeless(exit leaver, cutoff float64) bool {
	if math.IsInf(cutoff, 1) {
		return false
	}
	kept := slices.Clone(l.dual)
	step := 2 * (1 + math.Abs(cutoff) + math.Abs(l.Value())) / exit.gap
	for t, i := range l.Kernel.Tight {
		l.dual[i] = max(0, l.dual[i]-float64(exit.sign*step*l.rho[t]))
	}
	if exit.place < 0 {
		l.dual[exit.row] = step
	}
	proven := l.Value() >= cutoff
	copy(l.dual, kept)
	return proven
}

func negate(a []float64) {
	for i := range a {
		a[i] = -a[i]
	}
}
