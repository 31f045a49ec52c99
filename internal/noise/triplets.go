package noise

import (
	"fmt"

	"tercet/internal/data/batch"
	"tercet/internal/record"
	"tercet/internal/rng"
)

// OfTriplets is what the exchanges or wrong pair labels did, as a Report.
func OfTriplets(r record.Triplets) record.Noise {
	if r.Kind == PairLabel {
		return record.Noise{Kind: PairLabel, Wanted: r.Wanted, Found: r.Found, Flipped: r.Flipped, Items: 2 * r.Triplets, Q: 2 * r.Wanted, Effective: r.Wanted, EffectiveFound: r.Found}
	}
	return record.Noise{Kind: TripletFlip, Wanted: r.Wanted, Found: r.Found, Flipped: r.Flipped, Items: r.Triplets}
}

// TripletOptions says which triplets to draw.
type TripletOptions struct {
	Classes int      // of the labels, 0 to Classes-1
	Count   int      // triplets
	Prior   *float64 // of two classes: the probability that an anchor is of the first; nil: any item
	Seed    uint64
	Draw    uint64 // tells lists of one seed apart: an epoch
}

// Triplets returns o.Count triplets of items by labels seen; truth holds
// the true ones and may be the same slice. The anchor is any item whose seen class has
// another one, the positive any other item of that class, the negative any item of the
// other classes, all uniform; with a prior the anchor is of class 0 with that probability,
// whatever the sizes of the two classes (the appendix's pi). Then positive and negative change places with probability
// flip.
//
// Items and exchanges come from streams of their own, set by Seed and Draw; with
// one seed, what is exchanged at a flip is exchanged at every higher one.
//
// Errors are a flip outside [0, 1], a count below 1, a prior of other than two classes, labels out of range, and labels under
// which no two items are of one class or all are.
func Triplets(truth, seen []int32, flip float64, o TripletOptions) ([]batch.Triplet, record.Triplets, error) {
	switch {
	case o.Count < 1:
		return nil, record.Triplets{}, fmt.Errorf("noise: %d triplets; want 1 or more", o.Count)
	case len(truth) != len(seen):
		return nil, record.Triplets{}, fmt.Errorf("noise: triplets: %d labels with noise, %d without", len(seen), len(truth))
	}
	if err := checkProbability("triplet flip rate", flip); err != nil {
		return nil, record.Triplets{}, err
	}
	if err := checkLabels("triplets: truth", truth, o.Classes); err != nil {
		return nil, record.Triplets{}, err
	}
	if err := checkLabels("triplets: labels with noise", seen, o.Classes); err != nil {
		return nil, record.Triplets{}, err
	}
	d, err := newTripletDraw(seen, o.Classes)
	if err != nil {
		return nil, record.Triplets{}, err
	}
	if err := d.weigh(o.Prior); err != nil {
		return nil, record.Triplets{}, err
	}
	items, order := rng.New(o.Seed, "noise/triplets", o.Draw), rng.New(o.Seed, "noise/triplets/flips", o.Draw)
	out := make([]batch.Triplet, o.Count)
	r := record.Triplets{Triplets: o.Count, Anchors: len(d.anchors), Wanted: flip}
	for i := range out {
		t := d.next(items)
		if order.Float64() < flip {
			t.P, t.N = t.N, t.P
			r.Flipped++
		}
		out[i] = t
	}
	r.Found = float64(r.Flipped) / float64(o.Count)
	weigh(&r, out, truth)
	return out, r, nil
}

// weigh fills what triplets are against the truth.
func weigh(r *record.Triplets, triplets []batch.Triplet, truth []int32) {
	var right [2][2]int
	for _, t := range triplets {
		right[is(truth[t.P] == truth[t.A])][is(truth[t.N] != truth[t.A])]++
	}
	share := func(k int) float64 { return float64(k) / float64(len(triplets)) }
	r.Weights = record.TripletWeights{
		Beta: share(right[1][0] + right[1][1]), Gamma: share(right[0][1] + right[1][1]),
		W11: share(right[1][1]), W10: share(right[1][0]), W01: share(right[0][1]), W00: share(right[0][0]),
	}
	r.Wrong = share(len(triplets) - right[1][1])
}

func is(b bool) int {
	if b {
		return 1
	}
	return 0
}

// tripletDraw holds the items class by class, so that all but one class are two ranges.
type tripletDraw struct {
	seen    []int32
	sorted  []int32 // items by class
	place   []int   // of each item in sorted
	start   []int   // of each class in sorted, and the end
	anchors []int32
	prior   *float64 // probability of an anchor of class 0 of two; nil: of any item
}

// newTripletDraw refuses labels under which there are no triplets.
func newTripletDraw(seen []int32, classes int) (*tripletDraw, error) {
	d := &tripletDraw{seen: seen, place: make([]int, len(seen))}
	for _, m := range byClass(seen, nil, classes) {
		d.start = append(d.start, len(d.sorted))
		d.sorted = append(d.sorted, m...)
	}
	d.start = append(d.start, len(d.sorted))
	for p, i := range d.sorted {
		d.place[i] = p
	}
	for i, c := range seen {
		if d.size(c) > 1 {
			d.anchors = append(d.anchors, int32(i))
		}
	}
	if len(d.anchors) == 0 {
		return nil, fmt.Errorf("noise: triplets: no class has two of the %d items: no anchor has a positive", len(seen))
	}
	if c := seen[d.anchors[0]]; d.size(c) == len(seen) {
		return nil, fmt.Errorf("noise: triplets: all %d items are of class %d: no anchor has a negative", len(seen), c)
	}
	return d, nil
}

func (d *tripletDraw) size(c int32) int { return d.start[c+1] - d.start[c] }

// weigh sets the prior of the first class.
func (d *tripletDraw) weigh(prior *float64) error {
	if d.prior = prior; prior == nil {
		return nil
	}
	if err := checkProbability("triplets: prior", *prior); err != nil {
		return err
	}
	if classes := len(d.start) - 1; classes != 2 {
		return fmt.Errorf("noise: triplets: a prior of the first class is for two classes, and there are %d: set data.classes: 2", classes)
	}
	for c, p := range []float64{*prior, 1 - *prior} {
		if p > 0 && d.size(int32(c)) < 2 {
			return fmt.Errorf("noise: triplets: class %d has %d item: no anchor of it has a positive", c, d.size(int32(c)))
		}
	}
	return nil
}

// anchor draws an anchor.
func (d *tripletDraw) anchor(s *rng.Stream) int32 {
	if d.prior == nil {
		return d.anchors[s.IntN(len(d.anchors))]
	}
	c := int32(1)
	if s.Float64() < *d.prior {
		c = 0
	}
	return d.sorted[d.start[c]+s.IntN(d.size(c))]
}

// next draws a triplet.
func (d *tripletDraw) next(s *rng.Stream) batch.Triplet {
	a := d.anchor(s)
	return batch.Triplet{A: a, P: d.sorted[d.own(a, s.IntN(d.size(d.seen[a])-1))], N: d.sorted[d.other(a, s.IntN(len(d.sorted)-d.size(d.seen[a])))]}
}

// own is the place of the k-th item of a's class without a.
func (d *tripletDraw) own(a int32, k int) int {
	if p := d.start[d.seen[a]] + k; p < d.place[a] {
		return p
	}
	return d.start[d.seen[a]] + k + 1
}

// other is the place of the k-th item of the other classes than a's.
func (d *tripletDraw) other(a int32, k int) int {
	if c := d.seen[a]; k >= d.start[c] {
		return k + d.size(c)
	}
	return k
}
