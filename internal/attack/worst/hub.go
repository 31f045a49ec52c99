package worst

import (
	"math"
	"slices"

	"tercet/internal/attack/retrieval"
	"tercet/internal/engine/adversary"
	"tercet/internal/engine/array"
	"tercet/internal/par"
)

const (
	hubQueries = 500 // at most, that one image is to be nearest to
	hubImages  = 10  // of the gallery that are moved, each by itself
	hubNear    = 20  // queries that are pulled at, of those that the image is not nearest to
)

// Hub says how often one image of the gallery is the nearest to a query: as it is, and moved
// within the ball so that it is that to as many as can be. The image is the one of those
// tried with which the attack is best.
type Hub struct {
	Image        int // of the set
	Queries      int
	Clean, Moved int // queries whose nearest row it is
}

// hub moves the images that come nearest to being near to all queries.
func (r *runner) hub() (*Hub, error) {
	places := min(len(r.items), hubQueries)
	h := &hubs{r: r, z: r.clean.Slice(0, places), items: r.items[:places]}
	h.prepare()
	rows := h.choose()
	w := r.sub
	w.resize(len(rows))
	for i, row := range rows {
		image := int(r.gallery.Image(row))
		w.add(0, image)
		if err := r.images.Read(image, w.x.Row(i)); err != nil {
			return nil, r.about([]int{image}, err)
		}
	}
	copy(w.adv.Data, w.x.Data)
	h.rows = rows
	best := &Hub{Queries: places, Moved: -1}
	if r.o.Eps > 0 {
		p := r.pgd
		p.Start = adversary.FromClean
		report, err := p.Run(r.model, w.x, w.ids, h, r.o.Seed, w.adv)
		if err != nil {
			return nil, r.about(w.items, err)
		}
		r.cost.Forward += int64(report.Forward * len(rows))
		r.cost.Backward += int64(report.Backward * len(rows))
	}
	together := r.embed(r.model, w.adv).Clone()
	for i, row := range rows {
		clean := h.count(row, r.gallery.X.Row(int(row)))
		moved := h.count(row, together.Row(i))
		if !r.o.inside(w.x.Row(i), w.adv.Row(i)) {
			moved = 0
		}
		moved = min(moved, h.count(row, r.embed(r.verifier, w.adv.Slice(i, i+1)).Row(0)))
		if moved = max(moved, clean); moved > best.Moved { // an attacker may leave it as it is
			best.Image, best.Clean, best.Moved = w.items[i], clean, moved
		}
	}
	return best, r.ctx.Err()
}

// hubs is the objective of images that are to be near to queries: the sum of what the image
// is farther away than the nearest row, over the hubNear queries for which that is least, less
// one for each query that it is nearest to: over all queries, those far away would decide. It
// is an adversary.Goal.
type hubs struct {
	r     *runner
	z     *array.Array // (Q, D) the queries
	items []int
	first [][]retrieval.Neighbor // (Q) the two nearest rows of each, none where there are none
	rows  []int32                // of the images
}

// prepare finds the two nearest rows of each query: the second counts where the first is the
// one that moves.
func (h *hubs) prepare() {
	f := h.r.field
	h.first = make([][]retrieval.Neighbor, len(h.items))
	for lo := 0; lo < len(h.items); lo += h.r.o.Together {
		hi := min(lo+h.r.o.Together, len(h.items))
		f.aim(h.items[lo:hi])
		f.find(h.z.Slice(lo, hi), 2)
		for i := lo; i < hi; i++ {
			list := slices.Concat(f.right(i-lo), f.wrong(i-lo))
			slices.SortFunc(list, retrieval.Neighbor.Compare)
			h.first[i] = list[:min(2, len(list))]
		}
	}
}

// rival is the nearest row of query q but for the one that moves, and whether the query is
// compared with that one at all.
func (h *hubs) rival(q int, row int32) (retrieval.Neighbor, bool) {
	if _, hidden := slices.BinarySearch(h.r.gallery.Hidden(h.items[q]), row); hidden {
		return retrieval.Neighbor{}, false
	}
	for _, n := range h.first[q] {
		if n.Row != row {
			return n, true
		}
	}
	return retrieval.Neighbor{}, false
}

// choose lists the rows with the lowest objective as they are.
func (h *hubs) choose() []int32 {
	list := make([]retrieval.Neighbor, h.r.gallery.Len())
	par.Each(len(list), 16, func(j int) {
		v := h.objective(int32(j), h.r.gallery.X.Row(j), nil)
		list[j] = retrieval.Neighbor{Row: int32(j), Square: v}
	})
	slices.SortFunc(list, retrieval.Neighbor.Compare)
	var rows []int32
	for _, n := range list[:min(hubImages, len(list), h.r.o.Together, len(h.r.items))] {
		rows = append(rows, n.Row)
	}
	return rows
}

// objective is that of a row at an embedding; grad, where it is not nil, gets its gradient.
func (h *hubs) objective(row int32, at, grad []float32) (sum float64) {
	clear(grad)
	var open []retrieval.Neighbor // queries with what is missing
	for q := range h.items {
		n, is := h.rival(q, row)
		if !is {
			continue
		}
		over := root(squared(at, h.z.Row(q))) - root(n.Square)
		if over <= 0 {
			sum--
			continue
		}
		open = append(open, retrieval.Neighbor{Row: int32(q), Square: over})
	}
	slices.SortFunc(open, retrieval.Neighbor.Compare)
	for _, o := range open[:min(hubNear, len(open))] {
		sum += o.Square
		if grad == nil {
			continue
		}
		z := h.z.Row(int(o.Row))
		far := max(math.Sqrt(squared(at, z)), 1e-12)
		for k, v := range z {
			grad[k] += float32((float64(at[k]) - float64(v)) / far)
		}
	}
	return sum
}

// Eval implements adversary.Goal.
func (h *hubs) Eval(z *array.Array, per []float64, grad *array.Array) error {
	par.Each(z.Rows(), 1, func(i int) {
		var g []float32
		if grad != nil {
			g = grad.Row(i)
		}
		per[i] = h.objective(h.rows[i], z.Row(i), g)
	})
	return h.r.ctx.Err()
}

// count is the number of queries whose nearest row is the row at an embedding.
func (h *hubs) count(row int32, at []float32) (count int) {
	for q := range h.items {
		n, is := h.rival(q, row)
		if is && (retrieval.Neighbor{Row: row, Square: squared(at, h.z.Row(q))}).Compare(n) < 0 {
			count++
		}
	}
	return count
}
