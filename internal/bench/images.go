package bench

import (
	"tercet/internal/data/batch"
	"tercet/internal/engine/array"
	"tercet/internal/rng"
)

// cells is the side of a class's pattern.
const cells = 4

// makeBatches draws the job's images, the same ones every time: anchors and
// positives (or similar pairs) share a pattern of 4 x 4 cells of zeros and ones
// under noise of their own. At the contrast of the jobs some triplets are hard
// and some are not, so that hardness manipulation has work to do.
func (t training) makeBatches() *cycle {
	r := rng.New(0, "bench/images")
	h, w, c := t.spec.Height, t.spec.Width, t.spec.Channels
	out := &cycle{}
	for range t.batches {
		b := &batch.Batch{Images: array.New(t.group*t.groups, h, w, c)}
		for i := range t.group * t.groups {
			b.Index = append(b.Index, int32(i))
			b.Labels = append(b.Labels, int32(t.class(i)))
		}
		patterns := map[int32][]float32{}
		for i, class := range b.Labels {
			if patterns[class] == nil {
				patterns[class] = pattern(r, c)
			}
			t.draw(b.Images.Row(i), patterns[class], r)
		}
		out.batches = append(out.batches, b)
	}
	return out
}

// class numbers what row i of a batch shows: group i modulo groups, or another
// class for negatives and for the second rows of different pairs.
func (t training) class(row int) int {
	role, i := row/t.groups, row%t.groups
	if role == 2 || t.group == 2 && role == 1 && i%2 == 1 {
		return t.groups + i
	}
	return i
}

func pattern(r *rng.Stream, channels int) []float32 {
	p := make([]float32, cells*cells*channels)
	for i := range p {
		p[i] = float32(r.IntN(2))
	}
	return p
}

// draw writes pattern under noise to image (H, W, C), pixels in [0, 1].
func (t training) draw(image, pattern []float32, r *rng.Stream) {
	h, w, c := t.spec.Height, t.spec.Width, t.spec.Channels
	for y := range h {
		for x := range w {
			cell := (y*cells/h*cells + x*cells/w) * c
			for k := range c {
				image[(y*w+x)*c+k] = float32(t.contrast*float64(pattern[cell+k]) + (1-t.contrast)*r.Float64())
			}
		}
	}
}
