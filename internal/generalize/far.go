package generalize

import (
	"context"

	"tercet/internal/data"
	"tercet/internal/embed"
	"tercet/internal/engine/array"
	"tercet/internal/engine/kernel"
	"tercet/internal/engine/nn"
)

// classMeans are mean embeddings: of training classes, and of the pool's.
type classMeans struct {
	train, pool map[string][]float64
	names       []string       // of the pool's classes, in order
	nearest     map[string]int // the pool's item nearest to its class's mean
}

// meanOf is how many images of a training class its mean is taken from.
const meanOf = 50

// findMeans embeds the pool and some images of the training classes that are asked for.
func (r *replacer) findMeans(ctx context.Context, m *nn.Model, classes []int32, batch int) error {
	c := &classMeans{train: map[string][]float64{}, pool: map[string][]float64{}, nearest: map[string]int{}}
	vectors := func(ds data.Dataset, items []int) (*array.Array, error) {
		part, err := data.Subset(ds, items)
		if err != nil {
			return nil, err
		}
		return embed.Batches(ctx, m, part, batch, func(int, int) {})
	}
	for _, y := range classes {
		name := r.train.Classes()[y]
		if c.train[name] != nil {
			continue
		}
		own := r.members[y]
		var some []int
		for k := range min(meanOf, len(own)) {
			some = append(some, own[k*len(own)/min(meanOf, len(own))])
		}
		z, err := vectors(r.train, some)
		if err != nil {
			return err
		}
		c.train[name] = meanRow(z)
	}
	for _, name := range r.held.Classes() {
		own := r.byClass[name]
		if len(own) == 0 || c.pool[name] != nil {
			continue
		}
		z, err := vectors(r.held, own)
		if err != nil {
			return err
		}
		center := meanRow(z)
		best, at := 0.0, -1
		for k := range own {
			if d := farFrom(z.Row(k), center); at < 0 || d < best {
				best, at = d, k
			}
		}
		c.pool[name], c.nearest[name] = center, own[at]
		c.names = append(c.names, name)
	}
	r.means = c
	return nil
}

// far is the pool's item nearest to the mean of the class that is farthest from class.
func (c *classMeans) far(class string) int {
	best, item := -1.0, -1
	for _, name := range c.names {
		if name == class {
			continue
		}
		d := 0.0
		for k, v := range c.pool[name] {
			d += float64((v - c.train[class][k]) * (v - c.train[class][k]))
		}
		if d > best {
			best, item = d, c.nearest[name]
		}
	}
	return item
}

// meanRow is the mean of the rows of z (N, D).
func meanRow(z *array.Array) []float64 {
	sum := make([]float64, z.Cols())
	for i := range z.Rows() {
		for k, v := range z.Row(i) {
			sum[k] += float64(v) / float64(z.Rows())
		}
	}
	return sum
}

// farFrom is the squared distance of a row from center.
func farFrom(row []float32, center []float64) float64 {
	d := 0.0
	for k, v := range row {
		d += float64((float64(v) - center[k]) * (float64(v) - center[k]))
	}
	return d
}

// digest identifies the trained weights of a network.
func digest(m *nn.Model) string {
	v := data.Embeddings{N: 1}
	for _, p := range m.Params() {
		v.X = append(v.X, p.Value.Data...)
	}
	v.D = len(v.X)
	return v.Fingerprint()[:16] + "/" + kernel.Setting()
}
