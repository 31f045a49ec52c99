package noise

import (
	"fmt"

	"tercet/internal/data/batch"
	"tercet/internal/record"
	"tercet/internal/rng"
)

// PairTriplets returns o.Count triplets whose pairs have wrong labels: triplets of items by
// their true labels, drawn as Triplets draws them; then the positive
// is with probability p an item of another class, and the negative, independently, with
// probability n one of the anchor's own. That is equation 1 of the noise-robust appendix
// with beta = 1-p, gamma = 1-n and, of two classes, o.Prior as pi.
//
// Items, what is wrong and what takes its place come from streams of their own, set by
// Seed and Draw; with one seed, what is wrong at a p or n is as wrong at every higher one.
//
// Errors are those of Triplets, a p or n outside [0, 1/2], and, for one above 0, an anchor's
// class of two items and a single item of other classes, of which none can take
// another's place.
func PairTriplets(truth []int32, p, n float64, o TripletOptions) ([]batch.Triplet, record.Triplets, error) {
	for _, rate := range []float64{p, n} {
		if err := effective(rate); err != nil {
			return nil, record.Triplets{}, err
		}
	}
	out, r, err := Triplets(truth, truth, 0, o)
	if err != nil {
		return nil, record.Triplets{}, err
	}
	d, err := newTripletDraw(truth, o.Classes)
	if err != nil {
		return nil, record.Triplets{}, err
	}
	for c := range int32(o.Classes) {
		switch size := d.size(c); {
		case p == 0 && n == 0 || size < 2:
		case size == 2:
			return nil, record.Triplets{}, fmt.Errorf("noise: triplets: class %d has two items: a wrong negative of it would be the positive; pair-label noise needs three or more of a class", c)
		case len(truth)-size < 2:
			return nil, record.Triplets{}, fmt.Errorf("noise: triplets: one item is not of class %d: a wrong positive would be the negative; pair-label noise needs two or more", c)
		}
	}
	wrong, instead := rng.New(o.Seed, "noise/triplets/pairs", o.Draw), rng.New(o.Seed, "noise/triplets/pairs/instead", o.Draw)
	r.Kind, r.Wanted = PairLabel, (p+n)/2
	for i, t := range out {
		// Drawn whether they are needed or not, so that rates share them.
		badP, badN := wrong.Float64() < p, wrong.Float64() < n
		u, v := instead.Float64(), instead.Float64()
		if badP {
			out[i].P = d.without(u, len(truth)-d.size(truth[t.A])-1, t.N, func(k int) int { return d.other(t.A, k) })
			r.Flipped++
		}
		if badN {
			out[i].N = d.without(v, d.size(truth[t.A])-2, t.P, func(k int) int { return d.own(t.A, k) })
			r.Flipped++
		}
	}
	r.Found = float64(r.Flipped) / float64(2*o.Count)
	weigh(&r, out, truth)
	return out, r, nil
}

// without is one of count+1 items at ascending places, skip left out, which is among
// them: that of the number u in [0, 1).
func (d *tripletDraw) without(u float64, count int, skip int32, place func(int) int) int32 {
	k := min(int(u*float64(count)), count-1)
	if p := place(k); p < d.place[skip] {
		return d.sorted[p]
	}
	return d.sorted[place(k+1)]
}
