package cluster

import (
	"math"

	"tercet/internal/engine/kernel"
)

// closeShare is the squared distance, as a share of ||x||^2 + ||y||^2, below which
// products of float32, and rows rounded after they were centered, leave too few digits
// of it. Of others the relative error is a few 1e-6.
const closeShare = 1. / 64

// distances replaces products of row with rows lo, lo+1, ... by distances, on the scale
// of x; those of close rows come from float64 and the data as given.
func (p *points) distances(row, lo int, dist []float32) {
	if !kernel.DistanceRow(p.squares[row], closeShare, p.squares[lo:], dist) {
		return
	}
	d := p.d
	x := p.raw[row*d : (row+1)*d]
	for j, v := range dist {
		if math.Signbit(float64(v)) {
			at := (lo + j) * d
			dist[j] = float32(p.scale * math.Sqrt(kernel.SquaredDistanceLanes(x, p.raw[at:at+d])))
		}
	}
}
