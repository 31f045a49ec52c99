package attack

import "fmt"

// checkBatch returns an error unless b holds images of the set and an embedding
// of each, whose distances float32 can hold.
func (g *Gallery) checkBatch(name string, b *Batch) error {
	if err := b.Clean.SameShape("clean embeddings", len(b.Items), g.X.Cols()); err != nil {
		return fmt.Errorf("attack %s: %w", name, err)
	}
	for i, item := range b.Items {
		if item < 0 || item >= g.Images() {
			return fmt.Errorf("attack %s: query %d is item %d of %d images", name, i, item, g.Images())
		}
		if !(g.fromMean(b.Clean.Row(i)) <= longest) {
			return fmt.Errorf("attack %s: the clean embedding of item %d is not finite, or too far from the gallery for float32", name, item)
		}
	}
	return nil
}

// fromMean returns the squared distance of z (D) from the gallery's mean.
func (g *Gallery) fromMean(z []float32) (square float64) {
	for k, v := range z {
		d := float64(v) - g.mean[k]
		square += float64(d * d)
	}
	return square
}
