package attack

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"tercet/internal/attack/retrieval"
	"tercet/internal/engine/adversary"
	"tercet/internal/engine/array"
	"tercet/internal/engine/nn"
	"tercet/internal/progress"
	"tercet/internal/record"
	"tercet/internal/scheduler"
)

// DefaultBatch is robrank's for 28x28 images, over which published scores are
// first averaged.
const DefaultBatch = 128

// Options of Run.
type Options struct {
	Attacks  []string      // names, as Attacks lists them; see also Suite
	Variants []Variant     // none given: those of the gallery
	PGD      adversary.PGD // budget and method, mode Eval; eps 0 crafts nothing
	Method   MethodOptions // its Seed is ignored
	Draws    int           // of random targets; 0 is 1
	Batch    int           // queries that published scores are first averaged over; 0 is DefaultBatch
	// Together is the number of images crafted together; 0 chooses. It changes
	// time and memory, but no result: networks are frozen, and the targets of a
	// query are its own. Where an attack's published weight joins the queries of
	// a batch (SPQA with Xi.Scale), it is Batch instead.
	Together int
	Queries  int    // how many queries to attack; 0 is all
	Sample   bool   // draw the Queries at random instead of taking the first
	Seed     uint64 // of that draw, of random targets and of random starts
	// Pictures keeps the images of that many queries, evenly spread, of
	// PictureAttacks (none given: the one that Shown names).
	Pictures       int
	PictureAttacks []string
	// Progress is told of queries done, one attack and draw after another.
	Progress progress.Count
}

// Run attacks queries among images with each attack and scores their retrieval in the
// gallery g, in the variants Published and Fixed.
//
// g holds the embeddings of all images, in order, by model in Eval mode, or of those of
// them that are retrieved. Images whose label does not occur again are not attacked,
// since no image is right for them. Attacks run one after the other, so that only one has
// its tables in memory. The clean embeddings of the queries are computed once. Both
// variants of an attack share the crafted image of a query if they would craft the same.
//
// When ctx ends, Run stops and returns its error.
func Run(ctx context.Context, model nn.Embedder, images Source, g *retrieval.Gallery, o Options) (*Result, error) {
	return run(ctx, model, images, g, o, NewMethod)
}

// maker is NewMethod, or a test's.
type maker func(name string, g *retrieval.Gallery, v Variant, o MethodOptions) (Method, error)

func run(ctx context.Context, model nn.Embedder, images Source, g *retrieval.Gallery, o Options, methods maker) (*Result, error) {
	r, err := newRunner(ctx, model, images, g, o, methods)
	if err != nil {
		return nil, err
	}
	if err := r.runShare(scheduler.Task{Index: 1, Of: 1}); err != nil {
		return nil, err
	}
	r.result.finish(g)
	return r.result, nil
}

// runShare runs the attacks on a share of the queries.
func (r *runner) runShare(t scheduler.Task) error {
	jobs, err := r.jobs()
	if err != nil {
		return err
	}
	if r.share, err = r.shareOf(t); err != nil {
		return err
	}
	if err := r.embed(); err != nil {
		return err
	}
	total := 0
	for _, j := range jobs {
		total += j.draws * (r.share.To - r.share.From)
	}
	done := 0
	for _, j := range jobs {
		err := r.attack(j, func(n int) {
			done += n
			r.o.Progress.Tell(done, total)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// runner is one Run.
type runner struct {
	ctx     context.Context
	o       Options
	model   nn.Embedder
	images  Source
	gallery *retrieval.Gallery
	methods maker
	result  *Result

	share               Share
	queries, candidates *victims // the same where each image is both
	of                  *victims // those of the attack at hand

	full workspace // the batch at hand
	part workspace // its queries of which the second variant has its own image
	goal watched
}

// victims are images that attacks perturb.
type victims struct {
	items, repeat []int        // repeat: see Batch
	clean         *array.Array // (Q, D) their embeddings
}

func newRunner(ctx context.Context, model nn.Embedder, images Source, g *retrieval.Gallery, o Options, methods maker) (*runner, error) {
	if err := g.Embeddings().SameShape("gallery", images.Len(), model.Dim()); err != nil {
		return nil, fmt.Errorf("attack: %w", err)
	}
	if err := o.fill(g); err != nil {
		return nil, err
	}
	if n := g.Len(); o.Method.W > g.Queries().Len() || o.Method.M > n {
		return nil, retrieval.Unfit("attack: w is %d and m %d, but the gallery has %d images; give at most as many", o.Method.W, o.Method.M, n)
	}
	queries, excluded, err := g.Choose(o.Queries, o.Sample, o.Seed)
	if err != nil {
		return nil, err
	}
	h, w, c := images.Shape()
	switch {
	case o.joins():
		o.Together = o.Batch
	case o.Together == 0:
		o.Together = Together(h, w)
	}
	b := min(o.Together, len(queries))
	r := &runner{ctx: ctx, o: o, model: model, images: images, gallery: g, methods: methods}
	r.full, r.part = newWorkspace(b, model.Dim(), h, w, c), newWorkspace(b, model.Dim(), h, w, c)
	if m, ok := model.(interface{ CheckInput(*array.Array) error }); ok {
		if err := m.CheckInput(r.full.x); err != nil {
			return nil, fmt.Errorf("attack: %w", err)
		}
	}
	r.goal.ctx, r.queries = ctx, &victims{items: queries, clean: array.New(len(queries), model.Dim())}
	r.result = &Result{Queries: queries, Excluded: excluded}
	r.candidates = r.queries
	if g.Apart() && slices.ContainsFunc(o.Attacks, perturbsCandidates) {
		r.candidates = &victims{clean: array.New(len(queries), model.Dim())}
		if r.candidates.items, r.candidates.repeat, err = g.Candidates(len(queries), o.Sample, o.Seed); err != nil {
			return nil, err
		}
		r.result.Candidates = r.candidates.items
	}
	for _, v := range o.Variants {
		s := Scored{Variant: v, Batch: len(queries)}
		if v == Published {
			s.Batch = min(o.Batch, len(queries))
		}
		r.result.Scored = append(r.result.Scored, s)
	}
	return r, nil
}

// fill sets defaults and returns an error naming the first option that is wrong.
func (o *Options) fill(g *retrieval.Gallery) error {
	if len(o.Variants) == 0 {
		o.Variants = VariantsOn(g)
	}
	if err := checkVariants(g, o.Variants); err != nil {
		return err
	}
	for i, v := range o.Variants {
		if slices.Contains(o.Variants[:i], v) {
			return fmt.Errorf("attack: variant %s is named twice", v)
		}
	}
	if o.Batch < 0 || o.Queries < 0 || o.Pictures < 0 || o.Draws < 0 || o.Together < 0 {
		return fmt.Errorf("attack: batch %d, queries %d, pictures %d, draws %d, together %d: all must be non-negative", o.Batch, o.Queries, o.Pictures, o.Draws, o.Together)
	}
	if o.Batch == 0 {
		o.Batch = DefaultBatch
	}
	o.Draws = max(o.Draws, 1)
	o.Method.Seed = o.Seed
	// The published ES:D is of the iterate before the last; keeping it costs one
	// copy of the embeddings.
	o.PGD.KeepPrevious, o.PGD.SkipFinal = true, false
	if o.PGD.Mode != nn.Eval {
		return errors.New("attack: the network must be frozen, in eval mode")
	}
	if err := o.PGD.Validate(); err != nil {
		return fmt.Errorf("attack: %w", err)
	}
	return nil
}

// joins reports whether what is crafted for a query depends on the others of its
// batch.
func (o *Options) joins() bool {
	return o.Method.Xi.Scale > 0 && slices.Contains(o.Variants, Published) && uses(o.Attacks, XiScale)
}

// Together returns the size of crafting batches for images of h x w. Small images
// fill the machine only by the hundred; C2F2 takes 3 % less time with 256 images
// than with 128. Of large ones fewer suffice, and their activations are many.
func Together(h, w int) int {
	switch {
	case h*w <= 32*32:
		return 256
	case h*w <= 64*64:
		return 128
	}
	return 16
}

// embed computes the queries' clean embeddings and compares them with the gallery.
func (r *runner) embed() error {
	if err := r.embedVictims(r.queries); err != nil || r.candidates == r.queries {
		return err
	}
	return r.embedVictims(r.candidates)
}

func (r *runner) embedVictims(v *victims) error {
	q := v.items
	r.of = v
	for lo := 0; lo < len(q); lo += r.o.Together {
		hi := min(lo+r.o.Together, len(q))
		if err := r.ctx.Err(); err != nil {
			return fmt.Errorf("attack stopped while it embedded %d of %d queries: %w", lo, len(q), err)
		}
		if err := r.load(lo, hi); err != nil {
			return err
		}
		copy(v.clean.Data[lo*v.clean.Cols():], r.model.Embed(r.full.x, nn.Eval).Data)
	}
	r.result.Cost.Forward += int64(len(q))
	return r.gallery.Check(v.clean, q)
}

// attack runs all draws of one attack; say is told how many queries are done.
func (r *runner) attack(j *job, say func(n int)) error {
	start, from, n := time.Now(), r.share.From, r.share.To
	r.of = j.of
	for draw := range j.draws {
		for lo := from; lo < n; lo += r.o.Together {
			hi := min(lo+r.o.Together, n)
			j.ran.Batches = append(j.ran.Batches, record.AttackBatch{Draw: draw, First: lo})
			err := r.ctx.Err()
			if err == nil {
				if err = r.load(lo, hi); err == nil {
					err = r.batch(j, draw)
				}
			}
			if stopped := r.ctx.Err(); stopped != nil {
				return fmt.Errorf("attack %s stopped after %d of %d queries: %w", j.ran.Attack, draw*(n-from)+lo-from, j.draws*(n-from), stopped)
			}
			if err != nil {
				return fmt.Errorf("attack %s, queries %d to %d of %d: %w", j.ran.Attack, lo, hi-1, n, err)
			}
			say(hi - lo)
		}
	}
	j.finish(r.result, time.Since(start).Seconds())
	return nil
}
