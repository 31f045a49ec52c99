package adversary

import (
	"fmt"
	"slices"

	"tercet/internal/engine/array"
	"tercet/internal/engine/loss"
	"tercet/internal/rng"
)

// gathered is the batch of n triplets on rows of their own: n anchors, n positives,
// n negatives, and, with five or six roles, the anchors, positives (and negatives) again,
// benign. An image that occurs in several triplets is copied for each, and so perturbed for each.
type gathered struct {
	clean  *array.Array // (3n, H, W, C)
	images *array.Array // (3n, 5n or 6n, H, W, C)
	first  array.Array  // the first 3n rows of images
	ids    []uint64     // rows of clean, for random starts
	tuples loss.Tuples
	batch  Batch
}

// checkBatch returns an error unless in has images, and a label and an id for each.
func checkBatch(who string, in *Batch) error {
	if in.Images == nil || len(in.Images.Shape) == 0 || len(in.Images.Data) == 0 {
		return fmt.Errorf("%s: %w: the batch has no images", who, array.ErrShape)
	}
	if rows := in.Images.Shape[0]; len(in.Labels) != rows || len(in.IDs) != rows {
		return fmt.Errorf("%s: %w: %d labels and %d ids for %d images", who, array.ErrShape, len(in.Labels), len(in.IDs), rows)
	}
	return nil
}

// checkTriplets returns an error naming the first triplet that leaves the batch.
func checkTriplets(who string, triplets []loss.Triplet, rows int) error {
	if len(triplets) == 0 {
		return fmt.Errorf("%s: the batch has no triplets", who)
	}
	for i, t := range triplets {
		if err := t.Check(i, rows); err != nil {
			return fmt.Errorf("%s: %w", who, err)
		}
	}
	return nil
}

// take gathers the mined triplets of in, so many roles each, after checking them.
func (g *gathered) take(who string, in *Batch, roles int) (n int, err error) {
	if err := checkBatch(who, in); err != nil {
		return 0, err
	}
	if in.Tuples == nil {
		return 0, fmt.Errorf("%s: the batch has no triplets; they are mined from the clean images before these are perturbed", who)
	}
	if err := checkTriplets(who, in.Tuples.Triplets, in.Images.Shape[0]); err != nil {
		return 0, err
	}
	g.gather(in, in.Tuples.Triplets, roles)
	return len(in.Tuples.Triplets), nil
}

// gather lays out the clean images of the triplets, of which the first three roles
// are yet to be crafted, and the batch to train on.
func (g *gathered) gather(in *Batch, source []loss.Triplet, roles int) {
	n := len(source)
	g.clean, g.images = fitRows(g.clean, in.Images, 3*n), fitRows(g.images, in.Images, roles*n)
	pixels := len(in.Images.Data) / in.Images.Shape[0]
	g.first.Data, g.first.Shape = g.images.Data[:3*n*pixels], g.clean.Shape
	b := &g.batch
	b.Images, b.Tuples, b.Clean, b.Roles = g.images, &g.tuples, nil, roles
	b.Labels, b.IDs, g.ids = grow(b.Labels, roles*n), grow(b.IDs, roles*n), grow(g.ids, 3*n)
	g.tuples.Triplets = grow(g.tuples.Triplets, n)
	for i, t := range source {
		for role, r := range [6]int32{t.A, t.P, t.N, t.A, t.P, t.N} {
			if role == roles {
				break
			}
			row, image := role*n+i, in.Images.Data[int(r)*pixels:][:pixels]
			b.Labels[row], b.IDs[row] = in.Labels[r], in.IDs[r]
			if role < 3 {
				copy(g.clean.Data[row*pixels:], image)
				g.ids[row] = uint64(row)
			} else {
				copy(g.images.Data[row*pixels:], image)
			}
		}
		g.tuples.Triplets[i] = loss.Triplet{A: int32(i), P: int32(n + i), N: int32(2*n + i)}
	}
}

// benign trains on the n anchors as they are.
func (g *gathered) benign(n int) {
	pixels := len(g.clean.Data) / g.clean.Shape[0]
	copy(g.images.Data[:n*pixels], g.clean.Data)
}

// view shows rows [lo, hi) of an array without a new header.
type view struct{ array.Array }

func (v *view) of(a *array.Array, lo, hi int) *array.Array {
	cols := len(a.Data) / a.Shape[0]
	v.Data = a.Data[lo*cols : hi*cols]
	v.Shape = append(v.Shape[:0], a.Shape...)
	v.Shape[0] = hi - lo
	return &v.Array
}

// start returns the seed of a step's random starts.
func start(r *rng.Stream, name string, seed, step uint64) uint64 {
	r.Reset(seed, name, step)
	return r.Uint64()
}

// fitRows returns an array of n rows of the shape of like's, a itself where its
// rows fit.
func fitRows(a, like *array.Array, n int) *array.Array {
	if a == nil || !slices.Equal(a.Shape[1:], like.Shape[1:]) {
		shape := slices.Clone(like.Shape)
		shape[0] = n
		return array.New(shape...)
	}
	a.SetRows(n)
	return a
}
