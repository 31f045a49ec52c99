package worst

import (
	"math"

	"tercet/internal/attack/retrieval"
	"tercet/internal/engine/adversary"
	"tercet/internal/engine/array"
	"tercet/internal/record"
)

// Moved says which queries are wrong where images of the gallery move and the query stays
// as it is. A query that is wrong without that is among them.
type Moved struct {
	One []bool // (Q) one image of the attacker's choice moves
	All []bool // (Q) all images move; those that were moved are the nearest ones
	Hub *Hub
	record.Cost
}

// movedRows is how many of the nearest wrong rows of a query are pulled towards it, and how
// many of its nearest right rows are pushed away.
const movedRows = 10

// moved attacks the gallery for each query: it pulls wrong rows towards the query, which is
// enough where one comes before the nearest right row, and pushes right rows away. What moves
// together does not depend on each other, so that each image is crafted by itself.
func (r *runner) moved() (*Moved, error) {
	var err error
	if r.field, err = newField(Full, r.gallery, 1); err != nil {
		return nil, err
	}
	m := &Moved{One: make([]bool, len(r.items)), All: make([]bool, len(r.items))}
	r.cost = record.Cost{}
	var places []int
	for p := range r.items {
		places = append(places, p)
	}
	err = r.batches(places, func(b *batch) error {
		r.field.aim(b.items)
		r.field.find(b.clean, movedRows+1)
		var near []*around
		for i, p := range b.places {
			near = append(near, &around{place: p, right: clone(r.field.right(i)), wrong: clone(r.field.wrong(i)), z: b.clean.Row(i)})
			m.One[p] = beaten(r.field, i)
			m.All[p] = m.One[p]
		}
		return r.moveAround(m, near)
	})
	if err == nil {
		m.Hub, err = r.hub()
	}
	m.Cost = r.cost
	return m, err
}

func clone(list []retrieval.Neighbor) []retrieval.Neighbor {
	return append([]retrieval.Neighbor(nil), list...)
}

// around are the rows near a query: as they are, and as far as they were moved.
type around struct {
	place        int
	right, wrong []retrieval.Neighbor // one more right row than is pushed
	z            []float32
}

// moveAround moves the rows near some queries.
func (r *runner) moveAround(m *Moved, near []*around) error {
	if r.o.Eps == 0 {
		return nil
	}
	// The nearest wrong rows, one after another; a query that one of them breaks leaves.
	for k := range movedRows {
		var of []*around
		for _, a := range near {
			if k < len(a.wrong) && len(a.right) > 0 && !m.One[a.place] {
				of = append(of, a)
			}
		}
		err := r.move(of, k, false, func(a *around, square float64) {
			row := a.wrong[k]
			if row.Square = min(row.Square, square); row.Compare(a.right[0]) < 0 {
				m.One[a.place], m.All[a.place] = true, true
			}
			a.wrong[k].Square = row.Square
		})
		if err != nil {
			return err
		}
	}
	// The right rows away, as far as they go.
	pushed := map[*around][]retrieval.Neighbor{}
	for k := range movedRows {
		var of []*around
		for _, a := range near {
			if k < len(a.right) && !m.All[a.place] {
				of = append(of, a)
			}
		}
		err := r.move(of, k, true, func(a *around, square float64) {
			row := a.right[k]
			row.Square = max(row.Square, square)
			pushed[a] = append(pushed[a], row)
		})
		if err != nil {
			return err
		}
	}
	for a, rows := range pushed {
		r.pushed(m, a, rows)
	}
	return nil
}

// pushed decides on a query whose nearest right rows were pushed away and whose nearest
// wrong rows were pulled near.
func (r *runner) pushed(m *Moved, a *around, rows []retrieval.Neighbor) {
	left := rows // and the next right row, which did not move
	if len(a.right) > movedRows {
		left = append(clone(rows), a.right[movedRows])
	}
	m.All[a.place] = someBefore(a.wrong, left)
	// One image: the nearest right row alone moves, and wrong rows are where they were. Only
	// the nearest of these counts, whose clean distance is at least the moved one's.
	r.field.aim([]int{r.items[a.place]})
	z := &array.Array{Data: a.z, Shape: []int{1, len(a.z)}}
	r.field.find(z, 2)
	right, wrong := r.field.right(0), r.field.wrong(0)
	if len(wrong) > 0 {
		stay := []retrieval.Neighbor{rows[0]}
		if len(right) > 1 {
			stay = append(stay, right[1])
		}
		m.One[a.place] = someBefore(wrong[:1], stay)
	}
	m.All[a.place] = m.All[a.place] || m.One[a.place]
}

// someBefore reports whether a wrong row comes before all right ones.
func someBefore(wrong, right []retrieval.Neighbor) bool {
	for _, n := range wrong {
		first := true
		for _, p := range right {
			first = first && n.Compare(p) < 0
		}
		if first {
			return true
		}
	}
	return false
}

// move crafts, for each query, its row with number k, away from the query or towards it, and
// says how far it then is, squared: in a batch and alone by the verifier, whichever is the
// smaller success.
func (r *runner) move(of []*around, k int, away bool, each func(a *around, square float64)) error {
	if len(of) == 0 {
		return nil
	}
	w := r.sub
	w.resize(len(of))
	g := &moving{target: array.New(len(of), r.model.Dim()), sign: 1, limit: make([]float64, len(of))}
	if away {
		g.sign = -1
	}
	for i, a := range of {
		row, limit := a.wrong, 0.0
		if away {
			row, limit = a.right, math.Inf(1)
		} else {
			limit = a.right[0].Square
		}
		image := int(r.gallery.Image(row[k].Row))
		w.add(a.place, image)
		copy(g.target.Row(i), a.z)
		g.limit[i] = limit
		if err := r.images.Read(image, w.x.Row(i)); err != nil {
			return r.about([]int{image}, err)
		}
	}
	p := r.pgd
	p.Start = adversary.FromClean
	done, err := p.RunUntil(r.model, w.x, w.ids, g, r.o.Seed, w.adv)
	if err != nil {
		return r.about(w.items, err)
	}
	r.cost.Add(done.Cost)
	z := r.embed(r.model, w.adv).Clone()
	for i, a := range of {
		if !r.o.inside(w.x.Row(i), w.adv.Row(i)) { // it stays where it was
			if away {
				each(a, a.right[k].Square)
			}
			continue
		}
		together := squared(z.Row(i), a.z)
		alone := squared(r.embed(r.verifier, w.adv.Slice(i, i+1)).Row(0), a.z)
		if away {
			each(a, min(together, alone))
		} else {
			each(a, max(together, alone))
		}
	}
	return r.ctx.Err()
}

// moving is the distance of rows from queries, sign times it: an adversary.Reachable, which
// is reached where the squared distance is below a limit.
type moving struct {
	target *array.Array // (B, D)
	sign   float64
	limit  []float64
	square []float64
}

// Eval implements adversary.Goal.
func (g *moving) Eval(z *array.Array, per []float64, grad *array.Array) error {
	g.square = append(g.square[:0], make([]float64, z.Rows())...)
	for i := range g.square {
		to := g.target.Row(i)
		g.square[i] = squared(z.Row(i), to)
		d := math.Sqrt(g.square[i])
		per[i] = g.sign * d
		if grad == nil {
			continue
		}
		for k, v := range z.Row(i) {
			grad.Row(i)[k] = float32(g.sign * (float64(v) - float64(to[k])) / max(d, 1e-12))
		}
	}
	return nil
}

// Reached implements adversary.Reachable.
func (g *moving) Reached(i int) bool { return g.sign > 0 && g.square[i] < g.limit[i] }

// Retain implements adversary.Reachable.
func (g *moving) Retain(rows []int) {
	for to, from := range rows {
		copy(g.target.Row(to), g.target.Row(from))
		g.square[to] = g.square[from]
	}
	g.limit, g.square = retained(g.limit, rows), g.square[:len(rows)]
	g.target.SetRows(len(rows))
}
