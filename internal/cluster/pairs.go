package cluster

import "math"

// panelRows is the number of rows of a panel.
const panelRows = 8

// pairs holds a number for each pair of slots i < j: in panels of panelRows rows i, in
// each the numbers of one j next to one another. So neither a slot's numbers with lower
// slots nor those with higher ones are each on a cache line of its own, far from the
// others.
type pairs struct {
	n    int
	v    []float32
	base []int // of each panel: the number of (i, j) is at base + panelRows*j + i%panelRows
}

func newPairs(n int) *pairs {
	p := &pairs{base: make([]int, ceilDiv(n, panelRows))}
	p.v = make([]float32, p.lay(n))
	return p
}

// lay sets base for n slots and returns how many numbers there are.
func (p *pairs) lay(n int) int {
	p.n = n
	p.base = p.base[:ceilDiv(n, panelRows)]
	at := 0
	for i := range p.base {
		first := i * panelRows // the least j
		p.base[i] = at - panelRows*first
		at += panelRows * (n - first)
	}
	return at
}

func (p *pairs) get(i, j int32) float32 {
	if i > j {
		i, j = j, i
	}
	return p.v[p.base[i/panelRows]+panelRows*int(j)+int(i%panelRows)]
}

// store copies rows [lo, hi) of a square with rows stride apart; lo is a multiple of
// panelRows.
func (p *pairs) store(lo, hi int, square []float32, stride int) {
	for i := lo; i < hi; i += panelRows {
		base := p.base[i/panelRows]
		for r := range min(panelRows, hi-i) {
			row := square[(i-lo+r)*stride:][:p.n]
			for j := i; j < p.n; j++ {
				p.v[base+panelRows*j+r] = row[j]
			}
		}
	}
}

// gather copies the numbers of i with slots, ascending ones, and returns them; that of
// i itself is any.
func (p *pairs) gather(i int32, slots []int32, to []float32) []float32 {
	to = to[:len(slots)]
	at := 0
	column := panelRows * int(i)
	for ; at < len(slots) && slots[at] < i; at++ {
		j := slots[at]
		to[at] = p.v[p.base[j/panelRows]+column+int(j%panelRows)]
	}
	row := p.v[p.base[i/panelRows]+panelRows*int(i)+int(i%panelRows):]
	for rest := slots[at:]; len(rest) > 0; rest = rest[1:] {
		to[at] = row[panelRows*int(rest[0]-i)]
		at++
	}
	return to
}

// scatter is the reverse of gather.
func (p *pairs) scatter(i int32, slots []int32, from []float32) {
	at := 0
	column := panelRows * int(i)
	for ; at < len(slots) && slots[at] < i; at++ {
		j := slots[at]
		p.v[p.base[j/panelRows]+column+int(j%panelRows)] = from[at]
	}
	row := p.v[p.base[i/panelRows]+panelRows*int(i)+int(i%panelRows):]
	for ; at < len(slots); at++ {
		row[panelRows*int(slots[at]-i)] = from[at]
	}
}

// keep gives slots, ascending ones, the numbers 0, 1, ... and drops all others. No
// number moves up, so that it is done in place.
func (p *pairs) keep(slots []int32) {
	old := pairs{v: p.v, base: append([]int(nil), p.base...)}
	p.v = p.v[:p.lay(len(slots))]
	for i := 0; i < len(slots); i += panelRows {
		rows := slots[i:min(i+panelRows, len(slots))]
		for j := i; j < len(slots); j++ {
			to := p.v[p.base[i/panelRows]+panelRows*j:][:len(rows)]
			for r, from := range rows {
				if i+r < j {
					to[r] = old.get(from, slots[j])
				}
			}
		}
	}
}

// nearCount is the number of slots that nearby keeps.
const nearCount = 8

// nearby are the nearest of several slots, the lower of equals, and the least distance
// of all others.
type nearby struct {
	slot  [nearCount]int32
	dist  [nearCount]float32 // ascending
	count int32
	bound float32
}

func (s *nearby) reset() { s.count, s.bound = 0, float32(math.Inf(1)) }

// see adds a slot at a distance below bound; slots come in ascending order.
func (s *nearby) see(slot int32, v float32) {
	at := int(s.count)
	if at == nearCount {
		at--
		if v >= s.dist[at] {
			s.bound = v
			return
		}
		s.bound = s.dist[at]
	} else {
		s.count++
	}
	for ; at > 0 && s.dist[at-1] > v; at-- {
		s.slot[at], s.dist[at] = s.slot[at-1], s.dist[at-1]
	}
	s.slot[at], s.dist[at] = slot, v
}
