package attack

import (
	"context"
	"errors"
	"fmt"

	"tercet/internal/engine/adversary"
	"tercet/internal/engine/array"
	"tercet/internal/engine/nn"
	"tercet/internal/par"
)

// DefaultBatch is robrank's for 28x28 images.
const DefaultBatch = 128

// ESOptions configures ES.
type ESOptions struct {
	PGD      adversary.PGD // budget and method; see Profile.PGD
	Batch    int           // images crafted together; 0 is DefaultBatch
	Queries  int           // how many queries to attack; 0 is all
	Sample   bool          // draw the Queries at random instead of taking the first
	Seed     uint64        // of the draw and of random starts
	Pictures int           // keep the images of that many queries, evenly spread
	Progress func(done, total int)
}

// ES runs the embedding-shift attack (Zhou & Patel, CVPR 2022; robrank): each
// query image is perturbed to move its embedding as far as possible from the
// clean one. Two scores come from it: ES:D, how far, and ES:R, the recall@1 of
// the perturbed query in the clean gallery without its own copy.
//
// gallery (N, D) holds the clean embeddings of images, in order, computed by
// model in Eval mode; labels (N). Images whose label does not occur again are not
// attacked: there is nothing for them to find. When ctx ends, ES stops after the
// batch at hand and returns the context's error.
func ES(ctx context.Context, model nn.Embedder, images Source, gallery *array.Array, labels []int32, o ESOptions) (*ESResult, error) {
	e, err := newES(model, images, gallery, labels, o)
	if err != nil {
		return nil, err
	}
	r := e.result
	for lo := 0; lo < len(r.Queries); lo += e.o.Batch {
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("attack ES stopped after %d of %d queries: %w", lo, len(r.Queries), err)
		}
		hi := min(lo+e.o.Batch, len(r.Queries))
		if err := e.batch(r.Queries[lo:hi]); err != nil {
			return nil, fmt.Errorf("attack ES, queries %d to %d of %d: %w", lo, hi-1, len(r.Queries), err)
		}
		if o.Progress != nil {
			o.Progress(hi, len(r.Queries))
		}
	}
	r.finish(e.o.Batch, gallery)
	return r, nil
}

// es is one run of ES.
type es struct {
	o       ESOptions
	model   nn.Embedder
	images  Source
	gallery *array.Array
	labels  []int32
	result  *ESResult

	x, adv *array.Array // (B, H, W, C) clean and perturbed
	clean  *array.Array // (B, D)
	ids    []uint64
	goal   shift
	search *nearest
	masked []int32 // what the published score masks, per query of the batch
	reads  readJob
}

func newES(model nn.Embedder, images Source, gallery *array.Array, labels []int32, o ESOptions) (*es, error) {
	n := images.Len()
	if err := gallery.SameShape("gallery", n, model.Dim()); err != nil {
		return nil, fmt.Errorf("attack ES: %w", err)
	}
	if len(labels) != n {
		return nil, fmt.Errorf("attack ES: %d labels for %d images", len(labels), n)
	}
	if o.Batch == 0 {
		o.Batch = DefaultBatch
	}
	if o.Batch < 0 || o.Queries < 0 || o.Pictures < 0 {
		return nil, fmt.Errorf("attack ES: batch %d, queries %d, pictures %d: none may be negative", o.Batch, o.Queries, o.Pictures)
	}
	o.PGD.KeepPrevious, o.PGD.SkipFinal = true, false
	if err := o.PGD.Validate(); err != nil {
		return nil, fmt.Errorf("attack ES: %w", err)
	}
	for i := range gallery.Data {
		if v := gallery.Data[i]; v-v != 0 {
			return nil, fmt.Errorf("attack ES: gallery embedding %d is %v in coordinate %d", i/gallery.Cols(), v, i%gallery.Cols())
		}
	}
	queries, excluded, err := chooseQueries(labels, o)
	if err != nil {
		return nil, err
	}
	h, w, c := images.Shape()
	o.Batch = min(o.Batch, len(queries))
	e := &es{
		o: o, model: model, images: images, gallery: gallery, labels: labels,
		x: array.New(o.Batch, h, w, c), adv: array.New(o.Batch, h, w, c),
		clean: array.New(o.Batch, model.Dim()), search: newNearest(gallery),
		result: newESResult(queries, excluded, min(o.Pictures, len(queries)), h, w, c),
	}
	return e, nil
}

// batch attacks and scores one batch of queries.
func (e *es) batch(queries []int) error {
	b, r := len(queries), e.result
	e.x.SetRows(b)
	e.adv.SetRows(b)
	e.clean.SetRows(b)
	if err := e.read(queries); err != nil {
		return err
	}
	copy(e.clean.Data, e.model.Embed(e.x, e.o.PGD.Mode).Data)
	if e.o.PGD.Mode == nn.Eval {
		if err := e.checkGallery(queries); err != nil {
			return err
		}
	}
	e.goal.clean = e.clean
	report, err := e.o.PGD.Run(e.model, e.x, e.ids, &e.goal, e.o.Seed, e.adv)
	if err != nil {
		var where string
		if errors.Is(err, adversary.ErrNonFinite) {
			where = fmt.Sprintf(" (image 0 of the batch is item %d of the set)", queries[0])
		}
		return fmt.Errorf("%w%s", err, where)
	}
	r.Cost.Add(adversary.Cost{Forward: int64(b) * int64(1+report.Forward), Backward: int64(b) * int64(report.Backward)})
	r.zero += report.ZeroGradient * float64(b)
	r.keep(e.x, e.adv, len(r.Linf))
	r.Linf = append(r.Linf, report.Linf...)
	r.L2 = append(r.L2, report.L2...)

	e.search.find(e.clean)
	e.masked = e.masked[:0]
	for i, q := range queries {
		own := e.search.first[i]
		e.masked = append(e.masked, own)
		r.Published.CleanHit = append(r.Published.CleanHit, e.hit(q, e.search.second[i]))
		r.Fixed.CleanHit = append(r.Fixed.CleanHit, e.hit(q, e.search.without(i, int32(q))))
	}
	e.search.find(report.Embedding)
	for i, q := range queries {
		r.Published.Hit = append(r.Published.Hit, e.hit(q, e.search.without(i, e.masked[i])))
		r.Fixed.Hit = append(r.Fixed.Hit, e.hit(q, e.search.without(i, int32(q))))
		r.Published.Shift = append(r.Published.Shift, distance(report.Previous.Row(i), e.clean.Row(i), pairEps))
		r.Fixed.Shift = append(r.Fixed.Shift, distance(report.Embedding.Row(i), e.clean.Row(i), 0))
	}
	return nil
}

func (e *es) hit(query int, found int32) bool { return e.labels[found] == e.labels[query] }

// checkGallery returns an error unless the gallery holds the embeddings that the
// model gives: another checkpoint's or another order would give wrong scores.
func (e *es) checkGallery(queries []int) error {
	for i, q := range queries {
		got, want := e.clean.Row(i), e.gallery.Row(q)
		length := distance(want, make([]float32, len(want)), 0)
		if d := distance(got, want, 0); !(d <= 1e-3*(length+1e-6)) {
			return fmt.Errorf("gallery row %d is not the model's embedding of image %d: they are %v apart; embed the gallery with this model, in Eval mode and in the order of the images", q, q, d)
		}
	}
	return nil
}

// readJob reads a batch on all threads.
type readJob struct {
	e       *es
	queries []int
	errs    []error
}

func (j *readJob) Run(lo, hi int) {
	for i := lo; i < hi; i++ {
		j.errs[i] = j.e.images.Read(j.queries[i], j.e.x.Row(i))
	}
}

func (e *es) read(queries []int) error {
	e.reads = readJob{e, queries, make([]error, len(queries))}
	par.Do(len(queries), 4, &e.reads)
	e.ids = e.ids[:0]
	for i, q := range queries {
		if err := e.reads.errs[i]; err != nil {
			return fmt.Errorf("image %d: %w", q, err)
		}
		e.ids = append(e.ids, uint64(q))
	}
	return nil
}
