package optim

import (
	"tercet/internal/engine/nn"
	"tercet/internal/par"
)

// span is a piece of one parameter.
type span struct{ param, lo, hi int }

// spans cuts the parameters, end to end, into pieces of at most chunk elements
// and joins neighboring pieces to tasks of about that many: one dispatch
// updates a whole model, and neither a large weight nor many small biases cost
// more than their share. The borders depend on the sizes alone.
type spans struct {
	pieces []span
	tasks  []int // task i is pieces[tasks[i]:tasks[i+1]]
}

// chunk is the number of elements of a task.
const chunk = 1 << 14

// cut sets s to the pieces of the trained parameters; it reuses its storage.
func (s *spans) cut(params []*nn.Param) {
	s.pieces, s.tasks = s.pieces[:0], append(s.tasks[:0], 0)
	held := 0
	for i, p := range params {
		if p.Grad == nil || p.Store != nil { // a device has its own way
			continue
		}
		for lo, n := 0, len(p.Grad.Data); lo < n; {
			hi := min(lo+chunk-held, n)
			s.pieces = append(s.pieces, span{i, lo, hi})
			held += hi - lo
			lo = hi
			if held == chunk {
				s.tasks, held = append(s.tasks, len(s.pieces)), 0
			}
		}
	}
	if held > 0 {
		s.tasks = append(s.tasks, len(s.pieces))
	}
}

// task returns the pieces of tasks [lo, hi).
func (s *spans) task(lo, hi int) []span { return s.pieces[s.tasks[lo]:s.tasks[hi]] }

// each runs r over all tasks.
func (s *spans) each(r par.Runner) { par.Do(len(s.tasks)-1, 1, r) }
