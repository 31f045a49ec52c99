package certify

import (
	"context"

	"tercet/internal/attack"
	"tercet/internal/attack/retrieval"
	"tercet/internal/engine/array"
	"tercet/internal/engine/nn"
	"tercet/internal/par"
	"tercet/internal/rng"
	"tercet/internal/stat"
)

// choosing is the number of draws that the class is chosen by. They are not used again.
const choosing = 100

// voteBatch is the number of draws that are embedded together. It changes no result.
const voteBatch = 256

// VoteOptions say how queries vote.
type VoteOptions struct {
	Options         // Eps in l2; radii are always found, a vote takes all rows
	Sigma   float64 // standard deviation of the noise, pixels in [0, 1]
	Samples int     // draws n that the certificate is made of
	Alpha   float64 // probability that a query is certified beyond its radius
	Seed    uint64
}

// Votes certifies queries by randomized smoothing (Cohen et al., ICML 2019, arXiv
// 1902.02918). The system is not the network but a vote: the label of the nearest row of
// the image with Gaussian noise added to each pixel, not clipped, is drawn many times,
// and the most frequent one wins. If a lower bound p of its probability is above 1/2, it
// wins for all images within sigma quantile(p) of the query in l2, with or without pixels
// in [0, 1]. p is the bound of Clopper and Pearson from n draws, right with probability
// 1 - alpha; the label is chosen by 100 draws before.
//
// Right is where that label is the query's. Other queries are not drawn further: nothing
// can be certified of them.
func Votes(ctx context.Context, model nn.Embedder, images attack.Source, g *retrieval.Gallery, o VoteOptions) (*Result, error) {
	q := len(o.Queries)
	res := &Result{Rows: g.Len(), Right: make([]bool, q), Radii: make([]float64, q)}
	for range o.Eps {
		res.Certified = append(res.Certified, make([]bool, q))
	}
	b := newBallot(model, images, g, o)
	for i, item := range o.Queries {
		chosen, radius, err := b.vote(ctx, item)
		if err != nil {
			return nil, err
		}
		res.Right[i] = chosen
		if radius > 0 {
			res.Radii[i] = radius
			for k, eps := range o.Eps {
				res.Certified[k][i] = radius >= eps
			}
		}
		if o.Progress != nil {
			o.Progress(i+1, q)
		}
	}
	res.Passes = b.passes
	return res, nil
}

// MaxRadius is the largest radius that a vote can give: all draws agree.
func (o VoteOptions) MaxRadius() float64 { return o.radius(o.Samples) }

// radius is that of k votes; 0 where it abstains.
func (o VoteOptions) radius(k int) float64 {
	p := stat.LowerProportion(k, o.Samples, o.Alpha)
	if !(p > 0.5) {
		return 0
	}
	return o.Sigma * stat.NormalQuantile(p)
}

// ballot draws votes.
type ballot struct {
	model  nn.Embedder
	images attack.Source
	g      *retrieval.Gallery
	o      VoteOptions
	stream string // of the noise
	clean  []float32
	x      *array.Array
	around *retrieval.Around // of the image that votes
	votes  map[int32]int
	passes int64
}

func newBallot(model nn.Embedder, images attack.Source, g *retrieval.Gallery, o VoteOptions) *ballot {
	h, w, c := images.Shape()
	return &ballot{stream: "certify.vote", model: model, images: images, g: g, o: o, clean: make([]float32, h*w*c), x: array.New(voteBatch, h, w, c), votes: map[int32]int{}}
}

// vote reports whether the label chosen for an image is its own, and the radius that its
// votes give.
func (b *ballot) vote(ctx context.Context, item int) (right bool, radius float64, err error) {
	if err := b.images.Read(item, b.clean); err != nil {
		return false, 0, err
	}
	b.around = retrieval.NewAround(b.g, item)
	if err := b.count(ctx, item, 0, choosing); err != nil {
		return false, 0, err
	}
	label := b.g.Label(item)
	if b.most() != label {
		return false, 0, nil
	}
	if err := b.count(ctx, item, choosing, b.o.Samples); err != nil {
		return false, 0, err
	}
	return true, b.o.radius(b.votes[label]), nil
}

// most is the most frequent label; of equally frequent ones the smallest.
func (b *ballot) most() int32 {
	best, votes := int32(-1), 0
	for label, n := range b.votes {
		if n > votes || n == votes && label < best {
			best, votes = label, n
		}
	}
	return best
}

// count counts the labels of n draws of an image, from draw first on.
func (b *ballot) count(ctx context.Context, item, first, n int) error {
	clear(b.votes)
	return b.draw(ctx, item, first, n, func(z *array.Array) {
		for _, row := range b.around.Find(z) {
			if row >= 0 { // an embedding that is NaN has no nearest row
				b.votes[b.g.Labels[row]]++
			}
		}
	})
}

// draw calls use with the embeddings of n draws of the image, from draw first on, a batch
// at a time. A draw depends on the seed, the image and its number alone.
func (b *ballot) draw(ctx context.Context, item, first, n int, use func(z *array.Array)) error {
	for lo := 0; lo < n; lo += voteBatch {
		if err := ctx.Err(); err != nil {
			return err
		}
		m := min(voteBatch, n-lo)
		b.x.SetRows(m)
		par.For(m, 8, func(from, to int) {
			var s rng.Stream
			for j := from; j < to; j++ {
				s.Reset(b.o.Seed, b.stream, uint64(item), uint64(first+lo+j))
				for k, v := range b.clean {
					b.x.Row(j)[k] = float32(float64(v) + float64(b.o.Sigma*s.NormFloat64()))
				}
			}
		})
		use(b.model.Embed(b.x, nn.Eval))
		b.passes += int64(m)
	}
	return nil
}
