package factored

import (
	"math"

	"tercet/internal/engine/kernel"
)

// halves divides a set of nodes in two such that the costs between the
// halves are as negative as single moves can make them.
//
// With g = 2 (S_1 - S_0), e = n_1 - n_0 and h = Q_1 - Q_0, a node v of half 0 gains
// e (t - |y_v|^2) - h + g.y_v + t by going to half 1: one inner product a node.
type halves struct {
	f     *state
	nodes []int32
	side  []bool // (len(nodes))

	total  []float64 // (d) S of all
	g      []float64 // (d)
	g32    []float32 // (d)
	e, h   float64
	square float64 // Q of all
	n      [2]int

	axis, next []float32 // (d)
	mean       []float64 // (d)
	proj       []float64
}

// sides is the most passes over the nodes of a set that is divided.
const sides = 12

// start sets the halves by side.
func (h *halves) start() {
	f := h.f.f
	d := f.d
	h.total, h.g, h.g32 = zero(h.total, d), zero(h.g, d), sized(h.g32, d)
	h.e, h.h, h.square, h.n = 0, 0, 0, [2]int{}
	for i, v := range h.nodes {
		row, q := f.row(v), f.square[v]
		kernel.AddRow(h.total, row)
		h.square += q
		if h.side[i] {
			kernel.AddRow(h.g, row)
			h.e++
			h.h += q
			h.n[1]++
		} else {
			kernel.SubtractRow(h.g, row)
			h.e--
			h.h -= q
			h.n[0]++
		}
	}
	for j, v := range h.g {
		h.g[j] = 2 * v
		h.g32[j] = float32(2 * v)
	}
}

// settle moves nodes while that gains and returns what dividing the set gains.
func (h *halves) settle() float64 {
	f := h.f.f
	doubt := doubt * float64(len(h.nodes)) * (f.t + 2*f.most)
	least := float64(1e-12*float64(len(h.nodes))*(f.t+f.most)) + float64(1e-9*f.t)
	for range sides {
		moved := 0
		for i, v := range h.nodes {
			row, q := f.row(v), f.square[v]
			base := float64(h.e*(f.t-q)) - h.h
			sign := 1.0
			if h.side[i] {
				sign = -1
			}
			if float64(sign*(base+float64(kernel.Dot32(row, h.g32))))+f.t < -doubt {
				continue
			}
			if float64(sign*(base+dot(row, h.g)))+f.t <= least {
				continue
			}
			for j, e := range row {
				h.g[j] += float64(4 * sign * float64(e))
				h.g32[j] = float32(h.g[j])
			}
			h.e += 2 * sign
			h.h += float64(2 * sign * q)
			h.side[i] = !h.side[i]
			if sign > 0 {
				h.n[0], h.n[1] = h.n[0]-1, h.n[1]+1
			} else {
				h.n[0], h.n[1] = h.n[0]+1, h.n[1]-1
			}
			moved++
		}
		if h.n[0] == 0 || h.n[1] == 0 {
			return 0
		}
		if moved <= len(h.nodes)/1000 {
			break
		}
	}
	return h.gain()
}

// gain returns minus the costs between the halves.
func (h *halves) gain() float64 {
	n0, n1 := float64(h.n[0]), float64(h.n[1])
	q0, q1 := (h.square-h.h)/2, (h.square+h.h)/2
	dot := 0.0
	for j, v := range h.total {
		s1 := float64((v + float64(h.g[j]/2)) / 2)
		dot += float64(s1 * (v - s1))
	}
	return -(float64(n0*n1*h.f.f.t) - float64(n1*q0) - float64(n0*q1) + float64(2*dot))
}

// principal sets the sides by the sign of the first principal component, found by
// a few steps of power iteration on at most axis of the nodes.
func (h *halves) principal() {
	f := h.f.f
	d := f.d
	stride := (len(h.nodes) + axis - 1) / axis
	h.axis, h.next = zero(h.axis, d), zero(h.next, d)
	h.mean = zero(h.mean, d)
	mean := h.mean
	count := 0.0
	for i := 0; i < len(h.nodes); i += stride {
		kernel.AddRow(mean, f.row(h.nodes[i]))
		count++
	}
	for j := range mean {
		mean[j] /= count
	}
	far, most := 0, -1.0
	for i := 0; i < len(h.nodes); i += stride {
		if v := kernel.SquaredDistanceTo(f.row(h.nodes[i]), mean); v > most {
			far, most = i, v
		}
	}
	for j, v := range f.row(h.nodes[far]) {
		h.axis[j] = v - float32(mean[j])
	}
	for range 5 {
		norm := kernel.SumSquares(h.axis)
		if norm == 0 {
			break
		}
		kernel.Scale(float32(1/math.Sqrt(norm)), h.axis)
		shift := float32(dot(h.axis, mean))
		clear(h.next)
		all := float32(0)
		for i := 0; i < len(h.nodes); i += stride {
			row := f.row(h.nodes[i])
			p := kernel.Dot32(row, h.axis) - shift
			kernel.Axpy(p, row, h.next)
			all += p
		}
		for j, v := range mean {
			h.next[j] -= float32(all * float32(v))
		}
		h.axis, h.next = h.next, h.axis
	}
	shift := float32(dot(h.axis, mean))
	for i, v := range h.nodes {
		h.side[i] = kernel.Dot32(f.row(v), h.axis) > shift
	}
}

// axis is the most nodes that a principal component is found from.
const axis = 512

// farthest sets the sides by the nearer of two nodes: the one farthest from the mean
// of the set, and the one farthest from that.
func (h *halves) farthest() {
	f := h.f.f
	h.mean = zero(h.mean, f.d)
	mean := h.mean
	for _, v := range h.nodes {
		kernel.AddRow(mean, f.row(v))
	}
	for j := range mean {
		mean[j] /= float64(len(h.nodes))
	}
	a, most := 0, -1.0
	for i, v := range h.nodes {
		if e := kernel.SquaredDistanceTo(f.row(v), mean); e > most {
			a, most = i, e
		}
	}
	h.proj = sized(h.proj, len(h.nodes))
	b, most := 0, -1.0
	for i, v := range h.nodes {
		h.proj[i] = kernel.SquaredDistance(f.row(v), f.row(h.nodes[a]))
		if h.proj[i] > most {
			b, most = i, h.proj[i]
		}
	}
	for i, v := range h.nodes {
		h.side[i] = kernel.SquaredDistance(f.row(v), f.row(h.nodes[b])) < h.proj[i]
	}
}
