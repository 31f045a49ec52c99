package noise

import (
	"fmt"

	"tercet/internal/data"
	"tercet/internal/record"
	"tercet/internal/rng"
)

// TripletReport is record.Triplets.
type TripletReport = record.Triplets

// OfTriplets is what the exchanges or wrong pair labels did, as a Report.
func OfTriplets(r TripletReport) Report {
	if r.Kind == PairLabel {
		return Report{Kind: PairLabel, Wanted: r.Wanted, Found: r.Found, Flipped: r.Flipped, Items: 2 * r.Triplets, Q: 2 * r.Wanted, Effective: r.Wanted, EffectiveFound: r.Found}
	}
	return Report{Kind: TripletFlip, Wanted: r.Wanted, Found: r.Found, Flipped: r.Flipped, Items: r.Triplets}
}

// Triplets returns n triplets of items by labels seen, from 0 to classes-1; truth holds
// the true ones and may be the same slice. The anchor is any item whose seen class has
// another one, the positive any other item of that class, the negative any item of the
// other classes, all uniform. Then positive and negative change places with probability
// flip.
//
// Items and exchanges come from streams of their own, set by seed and draw; with one
// seed, what is exchanged at a flip is exchanged at every higher one.
//
// Errors are a flip outside [0, 1], n below 1, labels out of range, and labels under
// which no two items are of one class or all are.
func Triplets(truth, seen []int32, classes, n int, flip float64, seed, draw uint64) ([]data.Triplet, TripletReport, error) {
	switch {
	case n < 1:
		return nil, TripletReport{}, fmt.Errorf("noise: %d triplets; want 1 or more", n)
	case len(truth) != len(seen):
		return nil, TripletReport{}, fmt.Errorf("noise: triplets: %d labels with noise, %d without", len(seen), len(truth))
	}
	if err := checkProbability("triplet flip rate", flip); err != nil {
		return nil, TripletReport{}, err
	}
	if err := checkLabels("triplets: truth", truth, classes); err != nil {
		return nil, TripletReport{}, err
	}
	if err := checkLabels("triplets: labels with noise", seen, classes); err != nil {
		return nil, TripletReport{}, err
	}
	d, err := newTripletDraw(seen, classes)
	if err != nil {
		return nil, TripletReport{}, err
	}
	items, order := rng.New(seed, "noise/triplets", draw), rng.New(seed, "noise/triplets/flips", draw)
	out := make([]data.Triplet, n)
	r := TripletReport{Triplets: n, Anchors: len(d.anchors), Wanted: flip}
	for i := range out {
		t := d.next(items)
		if order.Float64() < flip {
			t.P, t.N = t.N, t.P
			r.Flipped++
		}
		out[i] = t
	}
	r.Found = float64(r.Flipped) / float64(n)
	weigh(&r, out, truth)
	return out, r, nil
}

// weigh fills what triplets are against the truth.
func weigh(r *TripletReport, triplets []data.Triplet, truth []int32) {
	var right [2][2]int
	for _, t := range triplets {
		right[is(truth[t.P] == truth[t.A])][is(truth[t.N] != truth[t.A])]++
	}
	share := func(k int) float64 { return float64(k) / float64(len(triplets)) }
	r.Weights = TripletWeights{
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

// next draws a triplet.
func (d *tripletDraw) next(s *rng.Stream) data.Triplet {
	a := d.anchors[s.IntN(len(d.anchors))]
	return data.Triplet{A: a, P: d.sorted[d.own(a, s.IntN(d.size(d.seen[a])-1))], N: d.sorted[d.other(a, s.IntN(len(d.sorted)-d.size(d.seen[a])))]}
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
