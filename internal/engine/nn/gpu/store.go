//go:build native && linux && (amd64 || arm64)

package gpu

import (
	"tercet/internal/device"
	"tercet/internal/engine/kernel"
	"tercet/internal/engine/nn"
)

// store implements nn.Store for the parameters of one network.
type store struct {
	*queue
	values, grads map[*nn.Param]*mirror
	state         map[*float32]*mirror // by their first number
	part          buffer
	sums          []float64
}

func newStore(q *queue, params []*nn.Param) *store {
	s := &store{queue: q, values: map[*nn.Param]*mirror{}, grads: map[*nn.Param]*mirror{}, state: map[*float32]*mirror{}}
	for _, p := range params {
		s.values[p] = newMirror(p.Value.Data)
		if p.Trained() {
			s.grads[p] = newMirror(p.Grad.Data)
		}
	}
	return s
}

// on calls f while no other network uses the device.
func (s *store) on(f func()) {
	s.Lock()
	defer s.Unlock()
	f()
}

// value and grad are those of p on the device.
func (s *store) value(p *nn.Param, write bool) device.Buffer { return s.values[p].use(s.queue, write) }
func (s *store) grad(p *nn.Param, write bool) device.Buffer  { return s.grads[p].use(s.queue, write) }

// of is the copy of an array of an optimizer, to be changed; nil where there is none.
func (s *store) of(x []float32) any {
	if len(x) == 0 {
		return nil
	}
	m, ok := s.state[&x[0]]
	if !ok {
		m = newMirror(x)
		s.state[&x[0]] = m
	}
	return m.use(s.queue, true)
}

func (s *store) ZeroGrad(p *nn.Param) {
	s.on(func() {
		s.grads[p].changed = false
		s.each("zero", len(p.Grad.Data), s.grad(p, true))
	})
}

// squares is how many squares a group of the kernel sum_squares adds.
const squares = 2048

func (s *store) SumSquares(ps []*nn.Param) (total float64) {
	s.on(func() {
		for _, p := range ps {
			n := len(p.Grad.Data)
			groups := (n + squares - 1) / squares
			part := s.part.need(s.queue, groups, 8)
			s.rows("sum_squares", groups, n, s.grad(p, false), part)
			if cap(s.sums) < groups {
				s.sums = make([]float64, groups)
			}
			sums := s.sums[:groups]
			must(s.Download(bytes(sums), part))
			for _, v := range sums {
				total += v
			}
		}
	})
	return total
}

func (s *store) ScaleGrad(p *nn.Param, factor float32) {
	s.on(func() { s.each("scale", len(p.Grad.Data), factor, s.grad(p, true)) })
}

func (s *store) ClipGrad(p *nn.Param, most float32) {
	s.on(func() { s.each("clip", len(p.Grad.Data), most, s.grad(p, true)) })
}

func (s *store) FetchGrad(p *nn.Param) { s.on(func() { s.grads[p].fetch(s.queue) }) }

func (s *store) FetchState(x []float32) {
	s.on(func() {
		if m, ok := s.state[&x[0]]; ok {
			m.fetch(s.queue)
		}
	})
}

func (s *store) Adam(p *nn.Param, f *kernel.AdamFactors, m, v []float32) {
	s.on(func() {
		s.each("adam", len(p.Value.Data), f.Keep, f.L2, f.Beta1, f.Rest1, f.Beta2, f.Rest2, f.Size, f.Eps, s.value(p, true), s.grad(p, false), s.of(m), s.of(v))
	})
}

func (s *store) SGD(p *nn.Param, f *kernel.SGDFactors, buf []float32, nesterov bool) {
	s.on(func() {
		s.each("sgd", len(p.Value.Data), f.Keep, f.L2, f.Rate, f.Momentum, number(nesterov), s.value(p, true), s.grad(p, false), s.of(buf))
	})
}

// number is 1 for true.
func number(b bool) int {
	if b {
		return 1
	}
	return 0
}
