package adversary

import (
	"fmt"
	"math"

	"tercet/internal/engine/adversary/hardness"
	"tercet/internal/engine/array"
	"tercet/internal/engine/loss"
	"tercet/internal/engine/mine"
	"tercet/internal/rng"
)

// destinations fills dst with the destination hardness of each triplet in source:
// z (B, D) and labels (B) are of the clean batch and used only where d draws.
type destinations struct {
	d      hardness.Destination
	miner  mine.Miner // nil where d draws nothing
	eps    float64    // of the distance
	stream rng.Stream
	drawn  loss.Tuples
}

func (t *destinations) fill(dst []float64, source []loss.Triplet, z *array.Array, labels []int32, previous float64, seed, step uint64) error {
	base := t.d.Pseudo(previous)
	for i := range dst {
		dst[i] = base
	}
	if t.miner == nil {
		return nil
	}
	t.stream.Reset(seed, "hm-destination", step)
	if _, err := t.miner.Mine(z, labels, &t.stream, &t.drawn); err != nil {
		return fmt.Errorf("hm: destination %s: %w", t.d.Draws(), err)
	}
	if len(t.drawn.Triplets) != len(source) {
		return fmt.Errorf("hm: destination %s: %d triplets for %d of the source; both need one triplet for each anchor", t.d.Draws(), len(t.drawn.Triplets), len(source))
	}
	for i, x := range t.drawn.Triplets {
		if x.A != source[i].A {
			return fmt.Errorf("hm: destination %s: triplet %d has anchor %d, the source's has %d; both need the anchors in ascending order", t.d.Draws(), i, x.A, source[i].A)
		}
		a, p, n := z.Row(int(x.A)), z.Row(int(x.P)), z.Row(int(x.N))
		dst[i] += distance(a, p, t.eps) - distance(a, n, t.eps)
	}
	return nil
}

// distance returns |x - y + eps| in float64.
func distance(x, y []float32, eps float64) float64 {
	y = y[:len(x)]
	var s0, s1 float64
	k := 0
	for ; k+1 < len(x); k += 2 {
		d0 := float64(x[k]) - float64(y[k]) + eps
		d1 := float64(x[k+1]) - float64(y[k+1]) + eps
		s0 += float64(d0 * d0)
		s1 += float64(d1 * d1)
	}
	if k < len(x) {
		d := float64(x[k]) - float64(y[k]) + eps
		s0 += float64(d * d)
	}
	return math.Sqrt(s0 + s1)
}
