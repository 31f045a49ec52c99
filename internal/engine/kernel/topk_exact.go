package kernel

// exactLanes is the number of interleaved sums of the functions below.
const exactLanes = 16

// laned returns the current level, and how many of n numbers its assembly does: those in
// blocks of exactLanes. The rest is plain Go's.
func laned(n int) (l Level, done int) {
	if l = Current(); assembly && l != Generic {
		done = n &^ (exactLanes - 1)
	}
	return l, done
}

// SquaredDistanceLanes is SquaredDistance with the squares summed in 16
// interleaved float64 sums, added up at the end: several times faster, the same
// bits at every level, its relative error at most (len(a)/16 + 6)*2^-53.
func SquaredDistanceLanes(a, b []float32) float64 {
	var s [exactLanes]float64
	b = b[:len(a)]
	n := len(a) &^ (exactLanes - 1)
	if l := Current(); assembly && l != Generic && n > 0 {
		squares32Asm(l, n/exactLanes, &a[0], &b[0], &s[0])
	} else {
		squares32Generic(a[:n], b[:n], &s)
	}
	for i := n; i < len(a); i++ {
		d := float64(a[i]) - float64(b[i])
		s[i-n] += float64(d * d)
	}
	return addLanes(&s)
}

// SquaredDistanceTo is SquaredDistanceLanes to a point in float64.
func SquaredDistanceTo(a []float32, b []float64) float64 {
	var s [exactLanes]float64
	b = b[:len(a)]
	n := len(a) &^ (exactLanes - 1)
	if l := Current(); assembly && l != Generic && n > 0 {
		squares64Asm(l, n/exactLanes, &a[0], &b[0], &s[0])
	} else {
		squares64Generic(a[:n], b[:n], &s)
	}
	for i := n; i < len(a); i++ {
		d := float64(a[i]) - b[i]
		s[i-n] += float64(d * d)
	}
	return addLanes(&s)
}

func addLanes(s *[exactLanes]float64) float64 {
	for w := exactLanes / 2; w > 0; w /= 2 {
		for i := range w {
			s[i] += s[i+w]
		}
	}
	return s[0]
}

// The conversions around products keep compilers from fusing them with the sum.

func squares32Generic(a, b []float32, s *[exactLanes]float64) {
	for i := 0; i < len(a); i += exactLanes {
		x, y := (*[exactLanes]float32)(a[i:]), (*[exactLanes]float32)(b[i:])
		for l := range s {
			d := float64(x[l]) - float64(y[l])
			s[l] += float64(d * d)
		}
	}
}

func squares64Generic(a []float32, b []float64, s *[exactLanes]float64) {
	for i := 0; i < len(a); i += exactLanes {
		x, y := (*[exactLanes]float32)(a[i:]), (*[exactLanes]float64)(b[i:])
		for l := range s {
			d := float64(x[l]) - y[l]
			s[l] += float64(d * d)
		}
	}
}
