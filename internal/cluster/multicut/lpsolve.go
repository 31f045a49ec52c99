package multicut

import (
	"math"
	"slices"
)

// lpExit is the variable or row that leaves the basis.
type lpExit struct {
	place int   // of a variable in the kernel, or -1
	row   int32 // or a slack row
	gap   float64
	sign  float64 // +1: below its bound, -1: above
}

// lpEntrant is what enters: a variable, or the slack of a tight row.
type lpEntrant struct {
	variable int32 // or -1
	place    int   // of a tight row in the kernel
	ratio    float64
	element  float64 // of the tableau
}

// solve runs the dual simplex method from the basis at hand until the programme is
// solved, its value reaches cutoff (no solution counts as above it), l.work passes
// limit, or it is stopped.
func (l *lp) solve(cutoff float64, limit int64) lpStatus {
	for since := 1; ; since++ {
		if l.work > limit || since%32 == 1 && l.stopped() {
			return lpLimit
		}
		if l.stale >= lpFresh && !l.refresh() {
			return lpLimit
		}
		if since%32 == 0 && l.value() >= cutoff {
			return lpCutoff
		}
		exit, ok := l.leaving()
		if !ok {
			if l.stale == 0 {
				return lpOptimal
			}
			// Drift is looked for, not inverted away, where there is little.
			l.primal()
			if exit, ok = l.leaving(); !ok {
				return lpOptimal
			}
		}
		l.tableauRow(exit)
		in, ok := l.entering(exit.sign)
		if !ok {
			if l.refuted(exit, cutoff) {
				return lpCutoff
			}
			if l.stale == 0 {
				return lpStuck
			}
			if !l.refresh() {
				return lpLimit
			}
			continue
		}
		if g := l.direction(exit, in); math.Abs(g-in.element) > lpDrift*(1+math.Abs(g)) {
			l.settle()
			if l.stale == 0 {
				return lpStuck
			}
			if !l.refresh() {
				return lpLimit
			}
			continue
		}
		l.pivot(exit, in)
	}
}

// leaving returns the variable or row furthest outside its bounds, in the measure of
// its weight.
func (l *lp) leaving() (exit lpExit, ok bool) {
	best := 0.0
	for p, j := range l.kernel.basic {
		gap, sign := l.lo[j]-l.x[j], 1.0
		if over := l.x[j] - l.hi[j]; over > gap {
			gap, sign = over, -1
		}
		if gap > lpFeasible && gap*gap > best*l.weight[j] {
			best = gap * gap / l.weight[j]
			exit = lpExit{p, -1, gap, sign}
		}
	}
	weight := l.weight[len(l.x):]
	for i, s := range l.slack {
		if s < -lpFeasible && s*s > best*weight[i] && l.kernel.tightAt[i] < 0 {
			best = s * s / weight[i]
			exit = lpExit{-1, int32(i), -s, 1}
		}
	}
	l.work += int64(len(l.slack) + l.kernel.size())
	return exit, best > 0
}

// tableauRow writes what leaves in terms of all outside the basis: l.rho of the tight
// rows' slacks, l.row of the variables.
func (l *lp) tableauRow(exit lpExit) {
	k := &l.kernel
	for _, j := range l.marked {
		l.row[j], l.mark[j] = 0, false
	}
	l.marked = l.marked[:0]
	put := func(j int32, v float64) {
		if !l.mark[j] {
			l.mark[j] = true
			l.marked = append(l.marked, j)
		}
		l.row[j] += v
	}
	l.rho = slices.Grow(l.rho[:0], k.size())[:k.size()]
	if exit.place >= 0 {
		copy(l.rho, k.row(exit.place))
	} else {
		clear(l.rho)
		col, val := l.entries(exit.row)
		for e, j := range col {
			if p := k.at[j]; p >= 0 {
				lpAdd(l.rho, k.row(int(p)), val[e])
				l.work += int64(k.size())
			} else {
				put(j, val[e])
			}
		}
	}
	for t, i := range k.tight {
		r := l.rho[t]
		if math.Abs(r) < 1e-12 {
			l.rho[t] = 0
			continue
		}
		col, val := l.entries(i)
		for e, j := range col {
			if k.at[j] < 0 {
				put(j, -r*val[e])
			}
		}
		l.work += int64(len(col))
	}
}

// entering is the ratio test of Harris (1973): among what would be the first to lose
// dual feasibility, but for a tolerance, the largest pivot.
func (l *lp) entering(sign float64) (lpEntrant, bool) {
	const slip = 1e-10
	step := math.Inf(1)
	for t, i := range l.kernel.tight {
		if a := sign * l.rho[t]; a > lpPivot {
			step = min(step, (l.dual[i]+slip)/a)
		}
	}
	// A variable at its upper bound counts with both signs turned.
	eligible := func(j int32) (a, d float64, ok bool) {
		a, d = sign*l.row[j], l.reduced[j]
		if l.upper[j] {
			a, d = -a, -d
		}
		return a, d, a > lpPivot && l.hi[j] > l.lo[j]
	}
	for _, j := range l.marked {
		if a, d, ok := eligible(j); ok {
			step = min(step, (max(0, d)+slip)/a)
		}
	}
	if math.IsInf(step, 1) {
		return lpEntrant{}, false
	}
	in := lpEntrant{variable: -1}
	most := 0.0
	for t, i := range l.kernel.tight {
		if a := sign * l.rho[t]; a > lpPivot && l.dual[i] <= step*a && a > most {
			most = a
			in = lpEntrant{-1, t, l.dual[i] / a, l.rho[t]}
		}
	}
	for _, j := range l.marked {
		if a, d, ok := eligible(j); ok && d <= step*a && a > most {
			most = a
			in = lpEntrant{j, -1, max(0, d) / a, l.row[j]}
		}
	}
	return in, true
}

// direction fills l.dx and l.ds, how the basis moves where what enters grows by 1,
// and returns what that does to the leaving one.
func (l *lp) direction(exit lpExit, in lpEntrant) float64 {
	k := &l.kernel
	l.dx = slices.Grow(l.dx[:0], k.size())[:k.size()]
	put := func(i int32, v float64) {
		if !l.rowHit[i] {
			l.rowHit[i] = true
			l.moved = append(l.moved, i)
		}
		l.ds[i] += v
	}
	if in.variable < 0 {
		for p := range l.dx {
			l.dx[p] = k.row(p)[in.place]
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
				l.dx[p] -= e.val * k.inverse[p*k.wide+int(t)]
			}
			l.work += int64(k.size())
		}
	}
	for p, v := range l.dx {
		if math.Abs(v) < 1e-12 {
			l.dx[p] = 0
			continue
		}
		column := l.cols[k.basic[p]]
		for _, e := range column {
			if k.tightAt[e.row] < 0 {
				put(e.row, e.val*v)
			}
		}
		l.work += int64(len(column))
	}
	if exit.place >= 0 {
		return l.dx[exit.place]
	}
	return l.ds[exit.row]
}

// settle clears what direction has filled.
func (l *lp) settle() {
	for _, i := range l.moved {
		l.ds[i], l.rowHit[i] = 0, false
	}
	l.moved = l.moved[:0]
}

// pivot changes the basis.
func (l *lp) pivot(exit lpExit, in lpEntrant) {
	k, m := &l.kernel, len(l.x)
	g := in.element
	move := exit.sign * exit.gap / g
	theta := exit.sign * in.ratio

	// Dual values and weights.
	for t, i := range k.tight {
		if r := l.rho[t]; r != 0 {
			l.dual[i] = max(0, l.dual[i]-theta*r)
		}
	}
	for _, j := range l.marked {
		d := l.reduced[j] - theta*l.row[j]
		if l.upper[j] {
			d = min(0, d)
		} else {
			d = max(0, d)
		}
		if l.hi[j] > l.lo[j] {
			l.reduced[j] = d
		} else {
			l.reduced[j] -= theta * l.row[j]
		}
	}
	var old float64
	if exit.place >= 0 {
		old = l.weight[k.basic[exit.place]]
	} else {
		old = l.weight[m+int(exit.row)]
	}
	scale := old / (g * g)
	if scale > lpWeight { // a new frame of reference
		for i := range l.weight {
			l.weight[i] = 1
		}
		scale = 1
	}

	// Primal values.
	for p, v := range l.dx {
		if v != 0 {
			j := k.basic[p]
			l.x[j] += v * move
			l.weight[j] = max(l.weight[j], v*v*scale)
		}
	}
	for _, i := range l.moved {
		v := l.ds[i]
		l.slack[i] += v * move
		l.weight[m+int(i)] = max(l.weight[m+int(i)], v*v*scale)
	}
	l.settle()
	l.enter(exit, in, move, max(1, scale))
	l.leave(exit, theta)

	switch {
	case in.variable >= 0 && exit.place >= 0:
		lpNegate(l.dx)
		k.swapColumn(exit.place, in.variable, l.dx)
	case in.variable >= 0:
		lpNegate(l.dx)
		k.grow(in.variable, exit.row, g, l.dx, l.rho)
	case exit.place >= 0:
		k.shrink(exit.place, in.place)
	default:
		k.swapRow(in.place, exit.row, l.rho)
	}
	l.work += int64(k.size()) * int64(k.size())
	l.pivots++
	l.stale++
}

func (l *lp) enter(exit lpExit, in lpEntrant, move, weight float64) {
	if j := in.variable; j >= 0 {
		l.x[j] += move
		l.reduced[j] = 0
		l.weight[j] = weight
		return
	}
	i := l.kernel.tight[in.place]
	l.slack[i], l.dual[i] = move, 0
	l.weight[len(l.x)+int(i)] = weight
}

func (l *lp) leave(exit lpExit, theta float64) {
	if exit.place < 0 {
		l.slack[exit.row], l.dual[exit.row] = 0, max(0, theta)
		return
	}
	j := l.kernel.basic[exit.place]
	l.reduced[j] = theta
	l.upper[j] = exit.sign < 0
	if l.upper[j] {
		l.x[j] = l.hi[j]
	} else {
		l.x[j] = l.lo[j]
	}
}

// refuted tells whether the leaving row, which nothing can bring to its bound, shows
// that the programme has no solution below cutoff: the duals may then grow without
// end along it.
func (l *lp) refuted(exit lpExit, cutoff float64) bool {
	if math.IsInf(cutoff, 1) {
		return false
	}
	kept := slices.Clone(l.dual)
	step := 2 * (1 + math.Abs(cutoff) + math.Abs(l.value())) / exit.gap
	for t, i := range l.kernel.tight {
		l.dual[i] = max(0, l.dual[i]-exit.sign*step*l.rho[t])
	}
	if exit.place < 0 {
		l.dual[exit.row] = step
	}
	proven := l.value() >= cutoff
	copy(l.dual, kept)
	return proven
}

func lpNegate(a []float64) {
	for i := range a {
		a[i] = -a[i]
	}
}
