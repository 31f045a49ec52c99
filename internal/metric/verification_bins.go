package metric

import (
	"math"
	"math/bits"
	"sync/atomic"

	"tercet/internal/rng"
)

// distanceBins counts squared distances in bins that a sample has made about
// equally full. A bin is a range of float32 numbers: those whose upper 17 bits agree
// (2^16 ranges, as there is no sign) make a range, and where the sample has many
// the range is cut into 2^cut by the next bits, down to single numbers. So bins
// follow the data over all orders of magnitude.
type distanceBins struct {
	first []int32        // (ranges+1): the bins of range r are first[r] to first[r+1]-1
	cut   []uint8        // (ranges): of each range
	count []atomic.Int64 // (bins, 2): different, same
}

const (
	binBits   = 15 // of a float32 below its range
	binRanges = 1 << (31 - binBits)
	binGoal   = 1 << 19 // about so many bins hold the sample
	binSample = 1 << 20 // pairs
)

// sampledBins lays bins out by pairs drawn with replacement.
func (p *pairCounts) sampledBins() *distanceBins {
	r := rng.New(0, "metric/verification")
	seen := make([]int32, binRanges)
	for range binSample {
		i, j := p.draw(r)
		seen[key(p.square(i, j)*p.scale)>>binBits]++
	}
	b := &distanceBins{first: make([]int32, binRanges+1), cut: make([]uint8, binRanges)}
	for i, n := range seen {
		if n > 0 {
			wanted := (int64(n)*binGoal + binSample - 1) / binSample
			b.cut[i] = uint8(min(binBits, bits.Len64(uint64(wanted-1))))
		}
		b.first[i+1] = b.first[i] + 1<<b.cut[i]
	}
	b.count = make([]atomic.Int64, 2*b.first[binRanges])
	return b
}

// draw draws a pair, excluded ones too, which are few.
func (p *pairCounts) draw(r *rng.Stream) (i, j int) {
	if !p.self {
		return r.IntN(p.n), r.IntN(p.ng)
	}
	if i, j = r.IntN(p.n), r.IntN(p.n-1); j >= i {
		j++
	}
	return i, j
}

// key orders squared distances, which are not negative, as a float32's bits.
func key(s float64) uint32 { return math.Float32bits(float32(s)) &^ (1 << 31) }

func (b *distanceBins) add(s float64, same bool) {
	k := key(s)
	r := k >> binBits
	bin := 2 * (b.first[r] + int32(k&(1<<binBits-1)>>(binBits-b.cut[r])))
	if same {
		bin++
	}
	b.count[bin].Add(1)
}

// rungs lists the bins that hold pairs, each at its upper end; scale is that of the
// squared distances.
func (b *distanceBins) rungs(scale float64) []rung {
	var out []rung
	for r, cut := range b.cut {
		for k := range int32(1) << cut {
			bin := 2 * (b.first[r] + k)
			different, same := b.count[bin].Load(), b.count[bin+1].Load()
			if same+different > 0 {
				last := uint32(r)<<binBits | (uint32(k)+1)<<(binBits-cut) - 1
				out = append(out, rung{math.Sqrt(float64(math.Float32frombits(last)) / scale), same, different})
			}
		}
	}
	return out
}
