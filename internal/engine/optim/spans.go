package optim

import (
	"cmp"
	"slices"

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
	tasks  []task
}

// task is pieces[from:to]. place is where it lies in its last parameter, from 0 to 1.
type task struct {
	from, to int
	place    float64
}

// chunk is the number of elements of a task.
const chunk = 1 << 14

// cut sets s to the pieces of the trained parameters; it reuses its storage. Tasks are in the
// order of their places: package par gives a thread the same part of each loop, so the thread
// that computed the gradients of some rows of a weight updates these rows.
func (s *spans) cut(params []*nn.Param) {
	s.pieces, s.tasks = s.pieces[:0], s.tasks[:0]
	held, from := 0, 0
	end := func() {
		last := s.pieces[len(s.pieces)-1]
		place := float64(last.lo+last.hi) / 2 / float64(len(params[last.param].Grad.Data))
		s.tasks = append(s.tasks, task{from, len(s.pieces), place})
		held, from = 0, len(s.pieces)
	}
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
				end()
			}
		}
	}
	if held > 0 {
		end()
	}
	slices.SortStableFunc(s.tasks, func(a, b task) int { return cmp.Compare(a.place, b.place) })
}

// task returns the pieces of task k.
func (s *spans) task(k int) []span { return s.pieces[s.tasks[k].from:s.tasks[k].to] }

// each runs r over all tasks, one at a time.
func (s *spans) each(r par.Runner) { par.Do(len(s.tasks), 1, r) }
