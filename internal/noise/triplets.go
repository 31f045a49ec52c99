package noise

import (
	"fmt"

	"tercet/internal/data"
	"tercet/internal/rng"
)

// TripletReport says what triplets are, against the truth.
type TripletReport struct {
	Triplets int `json:"triplets"`
	// Images that can be an anchor: those with another one of their seen class.
	Anchors int            `json:"anchors"`
	Wanted  float64        `json:"wanted"`  // the probability that positive and negative change places
	Found   float64        `json:"found"`   // flipped/triplets
	Flipped int            `json:"flipped"` // exchanged
	Weights TripletWeights `json:"weights"` // found, by the true classes and after exchanges
	// The share of triplets that are wrong in any way, 1 - W11.
	Wrong float64 `json:"wrong"`
}

// Noise is what the exchanges did, as a Report.
func (r TripletReport) Noise() Report {
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
	d := newTripletDraw(seen, classes)
	if len(d.anchors) == 0 {
		return nil, TripletReport{}, fmt.Errorf("noise: triplets: no class has two of the %d items: no anchor has a positive", len(seen))
	}
	if c := seen[d.anchors[0]]; d.size(c) == len(seen) {
		return nil, TripletReport{}, fmt.Errorf("noise: triplets: all %d items are of class %d: no anchor has a negative", len(seen), c)
	}
	items, order := rng.New(seed, "noise/triplets", draw), rng.New(seed, "noise/triplets/flips", draw)
	out := make([]data.Triplet, n)
	r := TripletReport{Triplets: n, Anchors: len(d.anchors), Wanted: flip}
	var right [2][2]int
	for i := range out {
		t := d.next(items)
		if order.Float64() < flip {
			t.P, t.N = t.N, t.P
			r.Flipped++
		}
		out[i] = t
		right[is(truth[t.P] == truth[t.A])][is(truth[t.N] != truth[t.A])]++
	}
	share := func(k int) float64 { return float64(k) / float64(n) }
	r.Found = share(r.Flipped)
	r.Weights = TripletWeights{
		Beta: share(right[1][0] + right[1][1]), Gamma: share(right[0][1] + right[1][1]),
		W11: share(right[1][1]), W10: share(right[1][0]), W01: share(right[0][1]), W00: share(right[0][0]),
	}
	r.Wrong = share(n - right[1][1])
	return out, r, nil
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

func newTripletDraw(seen []int32, classes int) *tripletDraw {
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
	return d
}

func (d *tripletDraw) size(c int32) int { return d.start[c+1] - d.start[c] }

// next draws a triplet.
func (d *tripletDraw) next(s *rng.Stream) data.Triplet {
	a := d.anchors[s.IntN(len(d.anchors))]
	c := d.seen[a]
	p := d.start[c] + s.IntN(d.size(c)-1)
	if p >= d.place[a] {
		p++
	}
	n := s.IntN(len(d.sorted) - d.size(c))
	if n >= d.start[c] {
		n += d.size(c)
	}
	return data.Triplet{A: a, P: d.sorted[p], N: d.sorted[n]}
}
