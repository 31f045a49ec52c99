package cluster

// ending is how a start ended: what makes up its state.
type ending struct {
	restart    int
	inertia    float64
	center     []float64
	size       []int
	labels     shortLabels
	iterations int
	converged  bool
}

// keep copies the state of a start.
func (e *ending) keep(l *lloyd) {
	e.center = append(e.center[:0], l.center...)
	e.size = append(e.size[:0], l.size...)
	e.labels.store(l.labels, l.k)
	e.iterations, e.converged = l.iterations, l.converged
}

// restore makes the state that was kept the start's.
func (l *lloyd) restore(e *ending) {
	copy(l.center, e.center)
	copy(l.size, e.size)
	e.labels.load(l.labels)
	l.iterations, l.converged = e.iterations, e.converged
}

// shortLabels holds labels in as few bytes as their number allows: the best starts are
// kept, and rows may be no longer than a label.
type shortLabels struct {
	byte  []uint8
	short []uint16
	long  []int32
}

// store copies labels in 0..k-1.
func (s *shortLabels) store(labels []int32, k int) {
	switch {
	case k <= 1<<8:
		s.byte = converted(s.byte, labels)
	case k <= 1<<16:
		s.short = converted(s.short, labels)
	default:
		s.long = converted(s.long, labels)
	}
}

// load writes what was stored to labels.
func (s *shortLabels) load(labels []int32) {
	switch {
	case s.byte != nil:
		converted(labels, s.byte)
	case s.short != nil:
		converted(labels, s.short)
	default:
		converted(labels, s.long)
	}
}

// converted returns from in the room of to, made where there is none.
func converted[T, F uint8 | uint16 | int32](to []T, from []F) []T {
	if to == nil {
		to = make([]T, len(from))
	}
	for i, v := range from {
		to[i] = T(v)
	}
	return to
}
