package worst

import (
	"context"
	"math"
	"slices"

	"tercet/internal/attack/retrieval"
	"tercet/internal/engine/array"
	"tercet/internal/engine/kernel"
	"tercet/internal/par"
)

// loss is an objective of queries, as a function of an embedding and of the rows found near
// it. Below 0 it implies a broken query, but for soft.
type loss interface {
	searched() int // rows of each kind that at reads
	// at returns the objective of query i at z (D) and overwrites grad, where it is not
	// nil, with the gradient.
	at(f field, i int, z, grad []float32) float64
	// of returns the loss of some of the queries; retain leaves no others.
	of(rows []int) loss
	retain(rows []int)
}

// goal is a loss with the evaluation's decision: an adversary.Reachable.
type goal struct {
	ctx  context.Context
	f    field
	loss loss
	z    *array.Array
	per  []float64
	grad *array.Array
}

// Eval implements adversary.Goal.
func (g *goal) Eval(z *array.Array, per []float64, grad *array.Array) error {
	g.find(z)
	return g.score(z, per, grad)
}

// find searches for z, as score needs it.
func (g *goal) find(z *array.Array) { g.f.find(z, max(g.loss.searched(), g.f.depth())) }

// score is Eval of what was searched for last.
func (g *goal) score(z *array.Array, per []float64, grad *array.Array) error {
	g.z, g.per, g.grad = z, per, grad
	par.Do(z.Rows(), 1, g)
	return g.ctx.Err()
}

// Run evaluates queries [lo, hi).
func (g *goal) Run(lo, hi int) {
	for i := lo; i < hi; i++ {
		var grad []float32
		if g.grad != nil {
			grad = g.grad.Row(i)
		}
		if len(g.f.right(i)) == 0 { // the embedding is not a number
			g.per[i] = math.NaN()
			continue
		}
		if len(g.f.wrong(i)) < g.f.depth() { // nothing can come first
			g.per[i] = 1
			clear(grad)
			continue
		}
		g.per[i] = g.loss.at(g.f, i, g.z.Row(i), grad)
	}
}

// Reached implements adversary.Reachable: the query is broken.
func (g *goal) Reached(i int) bool { return beaten(g.f, i) }

// Retain implements adversary.Reachable.
func (g *goal) Retain(rows []int) { g.f.retain(rows); g.loss.retain(rows) }

// between writes right - wrong, the gradient of half the difference of the squared distances
// from the two, to grad.
func between(right, wrong, grad []float32) {
	for k := range grad {
		grad[k] = right[k] - wrong[k]
	}
}

// marginLoss is half of what the squared distance of the nearest wrong row (at depth k, the
// k-th nearest) is more than that of the nearest right one. With rows of length 1 it is the largest inner product
// with a right row less the largest with a wrong one.
type marginLoss struct{}

func (marginLoss) searched() int   { return searchedRows }
func (m marginLoss) of([]int) loss { return m }
func (marginLoss) retain([]int)    {}
func (marginLoss) at(f field, i int, _, grad []float32) float64 {
	right, wrong := f.right(i)[0], f.wrong(i)[f.depth()-1]
	if grad != nil {
		between(f.vector(i, right.Row), f.vector(i, wrong.Row), grad)
	}
	return (wrong.Square - right.Square) / 2
}

// itemLoss is marginLoss with a fixed wrong row for each query.
type itemLoss struct{ targets []int32 }

func (itemLoss) searched() int { return searchedRows }
func (l *itemLoss) of(rows []int) loss {
	out := &itemLoss{}
	for _, i := range rows {
		out.targets = append(out.targets, l.targets[i])
	}
	return out
}
func (l *itemLoss) retain(rows []int) { l.targets = retained(l.targets, rows) }
func (l *itemLoss) at(f field, i int, z, grad []float32) float64 {
	right, target := f.right(i)[0], f.vector(i, l.targets[i])
	if grad != nil {
		between(f.vector(i, right.Row), target, grad)
	}
	return (squared(z, target) - right.Square) / 2
}

// softLoss replaces the nearest rows of marginLoss by softly nearest ones, of the softRows
// nearest of each kind (at depth k, without the k-1 nearest wrong ones), so that the loss does not jump where another row becomes the
// nearest: tau (log sum exp(s_p / tau) - log sum exp(s_n / tau)) with s = -d^2 / 2.
type softLoss struct{ tau []float64 }

func (softLoss) searched() int { return softRows }
func (l *softLoss) of(rows []int) loss {
	out := &softLoss{}
	for _, i := range rows {
		out.tau = append(out.tau, l.tau[i])
	}
	return out
}
func (l *softLoss) retain(rows []int) { l.tau = retained(l.tau, rows) }
func (l *softLoss) at(f field, i int, _, grad []float32) float64 {
	clear(grad)
	right := l.side(f, i, f.right(i), 1, grad)
	return right - l.side(f, i, f.wrong(i)[f.depth()-1:], -1, grad)
}

// side returns tau log sum exp(s / tau) of a list and adds sign times its gradient. The
// part along z is the same for both sides and left out of both.
func (l *softLoss) side(f field, i int, list []retrieval.Neighbor, sign float64, grad []float32) float64 {
	tau, first := l.tau[i], list[0].Square
	sum := 0.0
	for _, n := range list {
		sum += math.Exp((first - n.Square) / (2 * tau))
	}
	if grad != nil {
		for _, n := range list {
			w := float32(sign * math.Exp((first-n.Square)/(2*tau)) / sum)
			for k, v := range f.vector(i, n.Row) {
				grad[k] += float32(w * v)
			}
		}
	}
	return float64(tau*math.Log(sum)) - float64(first/2)
}

// newSoftLoss fixes the temperature of each query at its clean embedding: there the softmax
// of -d^2 / (2 tau) over the warmRows nearest rows has the wanted perplexity.
func newSoftLoss(f field, clean *array.Array) *softLoss {
	f.find(clean, warmRows)
	l := &softLoss{tau: make([]float64, clean.Rows())}
	for i := range l.tau {
		list := slices.Concat(f.right(i), f.wrong(i))
		slices.SortFunc(list, retrieval.Neighbor.Compare)
		l.tau[i] = temperature(list[:min(warmRows, len(list))])
	}
	return l
}

// temperature finds tau between 1e-3 and 1, times the largest squared distance where that
// is above 1, by bisection of its logarithm.
func temperature(list []retrieval.Neighbor) float64 {
	scale := max(1, list[len(list)-1].Square)
	low, high := math.Log(1e-3*scale), math.Log(scale)
	want := math.Log(min(perplexity, max(1, float64(len(list))/2)))
	for range 40 {
		mid := (low + high) / 2
		if entropy(list, math.Exp(mid)) < want {
			low = mid
		} else {
			high = mid
		}
	}
	return math.Exp((low + high) / 2)
}

// entropy is that of the softmax of -d^2 / (2 tau), in nats.
func entropy(list []retrieval.Neighbor, tau float64) float64 {
	first, sum, mean := list[0].Square, 0.0, 0.0
	for _, n := range list {
		s := (first - n.Square) / (2 * tau)
		e := math.Exp(s)
		sum += e
		mean += float64(e * s)
	}
	return math.Log(sum) - mean/sum
}

func retained[T any](s []T, rows []int) []T {
	for to, from := range rows {
		s[to] = s[from]
	}
	return s[:len(rows)]
}

func squared(a, b []float32) float64 { return kernel.SquaredDistanceLanes(a, b) }
