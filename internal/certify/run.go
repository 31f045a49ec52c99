package certify

import (
	"cmp"
	"context"
	"math"

	"tercet/internal/attack"
	"tercet/internal/attack/retrieval"
	"tercet/internal/attack/worst"
	"tercet/internal/engine/adversary"
	"tercet/internal/engine/array"
	"tercet/internal/engine/bound"
	"tercet/internal/engine/kernel"
	"tercet/internal/par"
	"tercet/internal/progress"
)

// smallest is the radius below which none is looked for.
const smallest = 1e-6

// finest is the ratio of two radii between which none is looked for.
const finest = 1.02

// Options say what is certified.
type Options struct {
	Eps     []float64    // budgets in l-infinity, pixels in [0, 1], ascending
	Radii   bool         // whether to look for the largest budget of each query
	Queries []int        // images
	Gallery string       // one of worst.Galleries; "" for all rows
	Crown   *bound.Crown // of the network's bounds, to prove what intervals leave open; or nil
	// Lipschitz, of the network's bounds, makes budgets lengths in l2; nil for l-infinity.
	Lipschitz *bound.Lipschitz
	Progress  progress.Count
}

// Result is of queries in their order.
type Result struct {
	Rows      int      // of the gallery
	Right     []bool   // the nearest row of the clean image has its class
	Certified [][]bool // by budget: at 0 as Right
	// Radii are the largest budgets that were proven, between 0 and the last of Eps, in
	// steps of 2 %; nil where they were not looked for.
	Radii []float64
	// TotalVariation and Lipschitz are what other theorems prove of mean embeddings; nil for
	// other methods.
	TotalVariation, Lipschitz []float64

	Passes int64 // of an image through the network; a box takes two, a function backward one
}

// Intervals certifies queries by interval bounds of the network net. Images move by at
// most eps in each pixel and stay in [0, 1]; with o.Lipschitz by at most eps in l2.
func Intervals(ctx context.Context, net *bound.Net, images attack.Source, g *retrieval.Gallery, o Options) (*Result, error) {
	search, err := worst.NewSearch(cmp.Or(o.Gallery, worst.Full), g)
	if err != nil {
		return nil, err
	}
	r := newRows(g, search, net)
	c := &crowned{rows: r, back: o.Crown}
	w := &work{crown: c, rows: r, far: newFar(r), net: net, images: images, o: o, res: &Result{Rows: search.Len(), Right: make([]bool, len(o.Queries))}}
	for range o.Eps {
		w.res.Certified = append(w.res.Certified, make([]bool, len(o.Queries)))
	}
	if o.Radii {
		w.res.Radii = make([]float64, len(o.Queries))
	}
	size := net.Batch()
	for lo := 0; lo < len(o.Queries); lo += size {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		hi := min(lo+size, len(o.Queries))
		if err := w.batch(lo, hi); err != nil {
			return nil, err
		}
		if o.Progress != nil {
			o.Progress(hi, len(o.Queries))
		}
	}
	return w.res, nil
}

// work is a certification that is going on.
type work struct {
	*rows
	crown   *crowned
	far     *far
	net     *bound.Net
	images  attack.Source
	o       Options
	res     *Result
	batched *array.Array // images of the batch
	some    *array.Array // those that are bounded
}

// batch certifies queries [lo, hi).
func (w *work) batch(lo, hi int) error {
	list, err := w.queries(w.o.Queries[lo:hi])
	if err != nil {
		return err
	}
	// known is the largest budget that is proven for each query, and failed the smallest
	// that is not.
	known, failed := make([]float64, len(list)), make([]float64, len(list))
	for i, q := range list {
		w.res.Right[lo+i] = q.right
		failed[i] = math.Inf(1)
	}
	for k, eps := range w.o.Eps {
		var ask []int
		for i, q := range list {
			switch {
			case !q.right || !math.IsInf(failed[i], 1): // not at a smaller one
			case eps == 0:
				w.res.Certified[k][lo+i] = true // the ball is the image, whose decision is known
			default:
				ask = append(ask, i)
			}
		}
		for j, proven := range w.prove(list, ask, func(int) float64 { return eps }) {
			if i := ask[j]; proven {
				known[i], w.res.Certified[k][lo+i] = eps, true
			} else {
				failed[i] = eps
			}
		}
	}
	if w.o.Radii {
		w.bisect(list, known, failed)
		copy(w.res.Radii[lo:hi], known)
	}
	return nil
}

// bisect raises known, which is proven, towards failed, which is not.
func (w *work) bisect(list []*query, known, failed []float64) {
	middle := func(i int) float64 { return math.Sqrt(max(known[i], smallest) * failed[i]) }
	for {
		var ask []int
		for i, q := range list {
			if q.right && !math.IsInf(failed[i], 1) && failed[i] > finest*max(known[i], smallest) {
				ask = append(ask, i)
			}
		}
		if ask == nil {
			return
		}
		for j, proven := range w.prove(list, ask, middle) {
			if i := ask[j]; proven {
				known[i] = middle(i)
			} else {
				failed[i] = middle(i)
			}
		}
	}
}

// queries reads the images and sorts their rows.
func (w *work) queries(items []int) ([]*query, error) {
	h, wide, c := w.images.Shape()
	w.batched = array.New(len(items), h, wide, c)
	z := array.New(len(items), w.g.X.Cols())
	for i, item := range items {
		if err := w.images.Read(item, w.batched.Row(i)); err != nil {
			return nil, err
		}
		copy(z.Row(i), w.g.Embedding(item))
	}
	right := w.search.Right(z, items)
	distances := w.distances(z)
	list, n := make([]*query, len(items)), w.rows.x.Rows()
	for i := range list { // the search serves one at a time
		list[i] = w.newQuery(items[i], right[i], distances[i*n:(i+1)*n])
	}
	return list, nil
}

// distances are those of z (B, D) from all rows, in float32.
func (w *work) distances(z *array.Array) []float32 {
	n := w.rows.x.Rows()
	out := make([]float32, z.Rows()*n)
	if n == w.g.Len() && w.rows.x == w.g.X {
		w.g.Distances(z, out)
		return out
	}
	for i := range z.Rows() {
		for j := range n {
			out[i*n+j] = float32(math.Sqrt(kernel.SquaredDistanceLanes(z.Row(i), w.rows.x.Row(j))))
		}
	}
	return out
}

// prove tries to certify the queries ask of list, each at its budget.
func (w *work) prove(list []*query, ask []int, eps func(i int) float64) []bool {
	if len(ask) == 0 {
		return nil
	}
	shape := append([]int{len(ask)}, w.batched.Shape[1:]...)
	w.some = array.New(shape...)
	budgets := make([]float64, len(ask))
	for j, i := range ask {
		copy(w.some.Row(j), w.batched.Row(i))
		if w.o.Lipschitz == nil {
			budgets[j] = worst.Allowed(adversary.Linf, eps(i), w.batched.Cols())
		}
	}
	w.res.Passes += 2 * int64(len(ask))
	h := w.net.Features(w.some, budgets)
	u := w.net.Embeddings(h)
	w.far.products(list, ask, h)
	if w.o.Lipschitz != nil {
		for j, i := range ask {
			way := w.o.Lipschitz.At(j)
			far := worst.Allowed(adversary.L2, eps(i), w.batched.Cols())
			budgets[j] = (float64(way.Slope*far) + way.Offset) * (1 + 0x1p-40)
		}
	}
	out, before := make([]bool, len(ask)), make([]int, len(ask))
	par.For(len(ask), 1, func(lo, hi int) {
		var at reach
		for j := lo; j < hi; j++ {
			w.reached(h, u, j, &at)
			if w.o.Lipschitz != nil {
				w.moved(budgets[j], &at)
			}
			q := list[ask[j]]
			before[j] = q.proven
			out[j] = w.proves(q, w.far.of(q, j, &at), &at)
		}
	})
	if w.o.Crown == nil {
		return out
	}
	var at reach
	for j, i := range ask {
		if q := list[i]; !out[j] {
			w.reached(h, u, j, &at)
			if out[j] = w.crown.proves(q, w.far.of(q, j, &at), j, &at, &w.res.Passes); out[j] {
				q.proven = before[j] // those of this box are not proven for larger ones
			}
		}
	}
	return out
}
