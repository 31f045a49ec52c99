package generalize

import (
	"fmt"
	"strings"

	"tercet/internal/config"
	"tercet/internal/data"
	"tercet/internal/engine/array"
	"tercet/internal/engine/kernel"
	"tercet/internal/engine/loss"
	"tercet/internal/par"
	"tercet/internal/record"
	"tercet/internal/rng"
	"tercet/internal/text"
	"tercet/internal/wire"
)

// drawTriplets draws n triplets of items: the anchor uniformly among those that have
// another item of their class, the positive among these others, the negative among the
// items of other classes. set names the items in messages.
func drawTriplets(labels []int32, n int, set string, r *rng.Stream) ([]loss.Triplet, error) {
	members := map[int32][]int32{}
	classes := int32(0)
	for i, y := range labels {
		members[y] = append(members[y], int32(i))
		classes = max(classes, y+1)
	}
	// Items by class: those of other classes are what is left of one block.
	var order, anchors []int32
	place := make([]int32, len(labels)) // of an item in order
	first := make([]int, classes)       // of a class's block
	for y := range classes {
		first[y] = len(order)
		for _, i := range members[y] {
			place[i] = int32(len(order))
			order = append(order, i)
			if len(members[y]) > 1 {
				anchors = append(anchors, i)
			}
		}
	}
	if len(members) < 2 || len(anchors) == 0 {
		return nil, fmt.Errorf("%w: no triplets in the %s images: they are %d in %s, and a triplet takes two of one class and one of another", data.ErrUnfit, set, len(labels), text.Plural(len(members), "class", "classes"))
	}
	out := make([]loss.Triplet, n)
	for k := range out {
		a := anchors[r.IntN(len(anchors))]
		y := labels[a]
		own := len(members[y])
		p := r.IntN(own - 1)
		if first[y]+p >= int(place[a]) {
			p++
		}
		q := r.IntN(len(order) - own)
		if q >= first[y] {
			q += own
		}
		out[k] = loss.Triplet{A: a, P: order[first[y]+p], N: order[q]}
	}
	return out, nil
}

// tripletLoss evaluates the loss of a run on triplets one by one. A loss of pairs costs
// a triplet the sum of its two pairs, anchor and positive as similar ones, anchor and
// negative as different ones.
type tripletLoss struct {
	Name string
	Of   string // "triplets", or "pairs" of which a triplet has two

	build func() (loss.Objective, error)
	unit  bool // it sees directions alone
	spare par.Free[tripletScratch]
}

// tripletScratch is what one thread needs.
type tripletScratch struct {
	objective loss.Objective
	rows      *array.Array // (3, D)
	tuples    loss.Tuples
}

// newTripletLoss returns the loss that cfg trains with, on one triplet at a time.
// weights are those of triplet-robust.
func newTripletLoss(cfg *config.Config, weights *record.TripletProbabilities) (*tripletLoss, error) {
	o, ok := cfg.Loss.Options.(loss.Decomposable)
	if !ok {
		return nil, fmt.Errorf("%w: loss %s has no value on a single triplet, by which the gap and the stability of a run are measured; losses that have one: %s", data.ErrUnfit, cfg.Loss.Name, strings.Join(decomposable(), ", "))
	}
	one := *cfg
	one.Loss.Options = o.Summed() // its value on a single triplet, whatever the run divides by
	l := &tripletLoss{Name: cfg.Loss.Name, Of: "triplets"}
	if cfg.Loss.Options.Takes() == loss.Pairs {
		l.Of = "pairs"
	}
	if p, ok := cfg.Loss.Options.(loss.PairPredictor); ok {
		l.unit = p.PairRule().Cosine
	}
	l.build = func() (loss.Objective, error) { return wire.BuildObjective(&one, weights) }
	_, err := l.build()
	return l, err
}

// decomposable lists the losses that have a value on a single triplet.
func decomposable() (out []string) {
	for _, c := range loss.Family.All() {
		if _, ok := c.Defaults.(loss.Decomposable); ok {
			out = append(out, c.Name)
		}
	}
	return out
}

// tripletValues are the loss of each triplet, and whether its order is wrong: the
// negative no farther from the anchor than the positive (the 0-1 loss 1{u >= 0}).
type tripletValues struct {
	loss  []float64
	wrong []bool
}

// eval evaluates triplets of the rows of z (N, D), which are finite.
func (l *tripletLoss) eval(z *array.Array, ts []loss.Triplet) (tripletValues, error) {
	v := tripletValues{make([]float64, len(ts)), make([]bool, len(ts))}
	const chunk = 512
	errs := make([]error, (len(ts)+chunk-1)/chunk)
	par.For(len(ts), chunk, func(lo, hi int) {
		s := l.spare.Get()
		defer l.spare.Put(s)
		errs[lo/chunk] = l.run(s, z, ts, v, lo, hi)
	})
	for _, err := range errs {
		if err != nil {
			return v, err
		}
	}
	return v, nil
}

var byCosine = loss.PairRule{Cosine: true}

// run evaluates triplets [lo, hi).
func (l *tripletLoss) run(s *tripletScratch, z *array.Array, ts []loss.Triplet, v tripletValues, lo, hi int) error {
	if s.objective == nil {
		var err error
		if s.objective, err = l.build(); err != nil {
			return err
		}
		s.tuples = loss.Tuples{
			Triplets: []loss.Triplet{{A: 0, P: 1, N: 2}},
			Pairs:    []loss.Pair{{I: 0, J: 1, Similar: true}, {I: 0, J: 2}},
		}
	}
	if s.rows == nil || s.rows.Cols() != z.Cols() {
		s.rows = array.New(3, z.Cols())
	}
	a, p, n := s.rows.Row(0), s.rows.Row(1), s.rows.Row(2)
	for k := lo; k < hi; k++ {
		copy(a, z.Row(int(ts[k].A)))
		copy(p, z.Row(int(ts[k].P)))
		copy(n, z.Row(int(ts[k].N)))
		r, err := s.objective.Eval(s.rows, &s.tuples, nil)
		if err != nil {
			return fmt.Errorf("triplet of items %d, %d and %d: %w", ts[k].A, ts[k].P, ts[k].N, err)
		}
		v.loss[k] = r.Loss
		if l.unit {
			v.wrong[k] = byCosine.Score(a, p) <= byCosine.Score(a, n)
		} else {
			v.wrong[k] = kernel.SquaredDistance(a, p) >= kernel.SquaredDistance(a, n)
		}
	}
	return nil
}

// finiteRows refuses embeddings (N, D) of the items of set that hold NaN or infinity.
func finiteRows(z *array.Array, set string) error {
	if i, ok := kernel.AllFinite(z.Data); !ok {
		return fmt.Errorf("%w: the embedding of %s image %d is not finite (column %d is %v); the run has diverged", data.ErrUnfit, set, i/z.Cols(), i%z.Cols(), z.Data[i])
	}
	return nil
}

// sup is the largest value on embeddings of length 1, nil where they are of any length
// or no bound is known.
func (l *tripletLoss) sup(cfg *config.Config) *float64 {
	o, ok := cfg.Loss.Options.(loss.Bounded)
	if !ok {
		return nil
	}
	v, bounded := o.Supremum(cfg.Model.Normalize)
	if !bounded {
		return nil
	}
	return &v
}
