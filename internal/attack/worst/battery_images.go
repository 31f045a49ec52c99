package worst

import (
	"math"

	"tercet/internal/engine/nn"
)

// randomness: the same images, embedded twice (B2), verification (B18) and ties (B19).
func (b *battery) randomness() error {
	differ, ties := 0, 0
	err := b.batches(b.places, func(w *batch) error {
		z := b.look(w, w.x).Clone()
		again := b.model.Embed(w.x, nn.Eval)
		for i := range w.items {
			for k, v := range z.Row(i) {
				if math.Float32bits(v) != math.Float32bits(again.Row(i)[k]) {
					differ++
					break
				}
			}
			if right := b.field.right(i); len(right) > 0 && math.Abs(margin(b.field, i)) <= 1e-6*root(right[0].Square) {
				ties++
			}
		}
		return nil
	})
	claimed, lost := 0, 0
	for _, m := range b.s.Ran {
		claimed, lost = claimed+m.Claimed, lost+m.Claimed-m.Broken
	}
	b.add("B2", "queries whose embedding differs when computed again", b.share(differ), 0, 0)
	b.add("B18", "claimed successes that verification does not find", float64(lost)/float64(max(claimed, 1)), 0.001, 0.01)
	b.add("B19", "clean queries whose margin is within rounding", b.share(ties), 0.01, b.never)
	return err
}

// anything: with every image in the ball copies of wrong images break all queries (B8).
// Where a right row lies within rounding of a wrong one, it can be the nearest to a copy of
// the latter, so several are tried.
func (b *battery) anything() error {
	if b.field.depth() > 1 || b.s.Gallery == Prototypes {
		return nil // a copy is near one wrong row, not several, and a prototype is no image
	}
	left := 0
	err := b.batches(b.places, func(w *batch) error {
		images, broken := b.wrongImages(w), make([]bool, len(w.items))
		for try := range copied {
			for i := range w.items {
				if try >= len(images[i]) {
					continue
				}
				if err := b.images.Read(images[i][try], w.adv.Row(i)); err != nil {
					return b.about(w.items[i:i+1], err)
				}
			}
			b.look(w, w.adv)
			for i := range w.items {
				broken[i] = broken[i] || beaten(b.field, i)
			}
		}
		for _, is := range broken {
			if !is {
				left++
			}
		}
		return nil
	})
	b.add("B8", "queries that stay right as a copy of each of 5 wrong images", b.share(left), 0, 0)
	return err
}

// wrongImages lists the images of the wrong rows that are nearest to each clean query.
func (b *battery) wrongImages(w *batch) [][]int {
	b.field.aim(w.items)
	b.field.find(w.clean, copied)
	out := make([][]int, len(w.items))
	for i := range w.items {
		copy(w.adv.Row(i), w.x.Row(i))
		for _, n := range b.field.wrong(i) {
			out[i] = append(out[i], int(b.gallery.Image(n.Row)))
		}
	}
	return out
}
