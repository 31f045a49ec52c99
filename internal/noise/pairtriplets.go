package noise

import (
	"fmt"

	"tercet/internal/data"
	"tercet/internal/rng"
)

// PairTriplets returns n triplets whose pairs have wrong labels: triplets of items by
// their true labels, from 0 to classes-1, drawn as Triplets draws them; then the positive
// is with probability p an item of another class, and the negative, independently, one
// of the anchor's own. Pairs that are labeled similar and different are thus each wrong
// with probability p, as pair-label noise leaves them of pairs that are as often similar
// as different; PLNTriplets(p, 1/2) are the triplets' weights.
//
// Items, what is wrong and what takes its place come from streams of their own, set by
// seed and draw; with one seed, what is wrong at a p is as wrong at every higher one.
//
// Errors are those of Triplets, a p outside [0, 1/2], and, for a p above 0, an anchor's
// class of two items and a single item of other classes, of which none can take
// another's place.
func PairTriplets(truth []int32, classes, n int, p float64, seed, draw uint64) ([]data.Triplet, TripletReport, error) {
	if err := effective(p); err != nil {
		return nil, TripletReport{}, err
	}
	out, r, err := Triplets(truth, truth, classes, n, 0, seed, draw)
	if err != nil {
		return nil, TripletReport{}, err
	}
	d, err := newTripletDraw(truth, classes)
	if err != nil {
		return nil, TripletReport{}, err
	}
	for c := range int32(classes) {
		switch size := d.size(c); {
		case p == 0 || size < 2:
		case size == 2:
			return nil, TripletReport{}, fmt.Errorf("noise: triplets: class %d has two items: a wrong negative of it would be the positive; pair-label noise needs three or more of a class", c)
		case len(truth)-size < 2:
			return nil, TripletReport{}, fmt.Errorf("noise: triplets: one item is not of class %d: a wrong positive would be the negative; pair-label noise needs two or more", c)
		}
	}
	wrong, instead := rng.New(seed, "noise/triplets/pairs", draw), rng.New(seed, "noise/triplets/pairs/instead", draw)
	r.Kind, r.Wanted = PairLabel, p
	for i, t := range out {
		// Drawn whether they are needed or not, so that rates share them.
		badP, badN := wrong.Float64() < p, wrong.Float64() < p
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
	r.Found = float64(r.Flipped) / float64(2*n)
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
