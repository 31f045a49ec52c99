package worst

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"tercet/internal/attack"
	"tercet/internal/attack/retrieval"
	"tercet/internal/engine/adversary"
	"tercet/internal/engine/array"
	"tercet/internal/engine/nn"
	"tercet/internal/par"
	"tercet/internal/record"
)

// runner is one Run.
type runner struct {
	ctx             context.Context
	o               Options
	model, verifier nn.Embedder
	images          Source
	gallery         *retrieval.Gallery
	items           []int        // the queries' images
	clean           *array.Array // (Q, D) their embeddings
	pgd             adversary.PGD

	all, sub, checked *batch
	given             map[int][]int // by query: the rows of Options.Given
	pixels            map[int][]int // by query: the nearest wrong images, by member copy

	// of the gallery and the member at hand
	field  field
	s      *State
	before []*State // of the galleries before
	member member
	place  int // of the member, from 1
	now    *Ran
	cost   record.Cost
}

// Run attacks queries among images with all members, in each gallery, and says which of
// them are broken. g holds the embeddings of all images, in order, by model in Eval mode,
// or of those that are retrieved.
//
// When ctx ends, Run stops and returns its error.
func Run(ctx context.Context, model nn.Embedder, images Source, g *retrieval.Gallery, o Options) (*Result, error) {
	if err := o.fill(); err != nil {
		return nil, err
	}
	r := &runner{ctx: ctx, o: o, model: model, verifier: o.Verifier, images: images, gallery: g, pgd: o.pgd()}
	if r.verifier == nil {
		r.verifier = model
	}
	res, err := r.begin()
	if err != nil {
		return nil, err
	}
	res.Galleries = slices.Clone(o.Resume)
	// What Plus adds and the given images come after all galleries, so that what Standard does
	// is the same.
	for _, more := range []bool{false, true} {
		for at, name := range o.Galleries {
			if at == len(res.Galleries) {
				res.Galleries = append(res.Galleries, &State{Gallery: name})
			}
			if err := r.in(res.Galleries, at, more); err != nil {
				return nil, err
			}
			if !more {
				res.Rows = append(res.Rows, r.field.rows())
			}
		}
	}
	if o.Battery {
		if res.Checks, err = r.check(res.Galleries[0]); err != nil {
			return nil, fmt.Errorf("worst case, checks for masked gradients: %w", err)
		}
	}
	if o.Moves {
		if res.Moved, err = r.moved(); err != nil {
			return nil, fmt.Errorf("worst case, gallery that moves: %w", err)
		}
		res.Cost.Add(res.Moved.Cost)
	}
	for _, s := range res.Galleries {
		for _, m := range s.Ran {
			res.Cost.Add(m.Cost)
		}
	}
	return res, nil
}

// begin chooses the queries and embeds them.
func (r *runner) begin() (*Result, error) {
	var excluded int
	var err error
	if r.items, excluded, err = r.gallery.Choose(r.o.Queries, r.o.Sample, r.o.Seed); err != nil {
		return nil, err
	}
	h, w, c := r.images.Shape()
	if r.o.Together == 0 {
		r.o.Together = attack.Together(h, w)
	}
	n, d := min(r.o.Together, len(r.items)), r.model.Dim()
	r.all, r.sub, r.checked = newBatch(n, d, h, w, c), newBatch(n, d, h, w, c), newBatch(n, d, h, w, c)
	if m, ok := r.model.(interface{ CheckInput(*array.Array) error }); ok {
		if err := m.CheckInput(r.all.x); err != nil {
			return nil, fmt.Errorf("worst case: %w", err)
		}
	}
	if err := r.takeGiven(); err != nil {
		return nil, err
	}
	r.clean = array.New(len(r.items), d)
	var places []int
	for p := range r.items {
		places = append(places, p)
	}
	err = r.batches(places, func(b *batch) error {
		z := r.model.Embed(b.x, nn.Eval)
		for i, p := range b.places {
			copy(r.clean.Row(p), z.Row(i))
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	res := &Result{Queries: r.items, Excluded: excluded, Cost: record.Cost{Forward: int64(len(r.items))}}
	return res, r.gallery.Check(r.clean, r.items)
}

// batches loads queries batch by batch.
func (r *runner) batches(places []int, each func(b *batch) error) error {
	for lo := 0; lo < len(places); lo += r.o.Together {
		if err := r.ctx.Err(); err != nil {
			return err
		}
		b, part := r.all, places[lo:min(lo+r.o.Together, len(places))]
		b.resize(len(part))
		for i, p := range part {
			b.add(p, r.items[p])
			copy(b.clean.Row(i), r.clean.Row(p))
		}
		errs := make([]error, len(part))
		par.Each(len(part), 4, func(i int) {
			errs[i] = r.images.Read(b.items[i], b.x.Row(i))
		})
		for i, err := range errs {
			if err != nil {
				return r.about(b.items[i:i+1], err)
			}
		}
		if err := each(b); err != nil {
			return err
		}
	}
	return nil
}

// about names the image that an error is about, the first of a list where it does not say.
func (r *runner) about(items []int, err error) error {
	var bad *adversary.ImageError
	if errors.As(err, &bad) {
		return fmt.Errorf("image %d of the set: %w", items[bad.Image], err)
	}
	if len(items) == 1 {
		return fmt.Errorf("image %d of the set: %w", items[0], err)
	}
	return err
}

// in runs, in gallery number at, the members that its state does not have yet: those before
// the first one of Plus or that is late, or all.
func (r *runner) in(states []*State, at int, all bool) error {
	s, members := states[at], r.o.membersOf(at)
	last := slices.IndexFunc(members, func(m member) bool { return m.plus || m.late })
	if all || last < 0 {
		last = len(members)
	}
	if all && len(s.Ran) == last {
		return nil
	}
	r.s, r.before, r.pixels = s, states[:at], nil
	var err error
	if r.field, err = newField(s.Gallery, r.gallery, r.o.K); err != nil {
		return err
	}
	q := len(r.items)
	if s.Images == nil {
		s.By, s.Margin, s.Eight, s.Radius = make([]int, q), make([]float64, q), make([]bool, q), slices.Repeat([]float64{math.Inf(1)}, q)
		s.Images = array.New(append([]int{q}, r.all.x.Shape[1:]...)...)
	}
	steps := len(r.o.Galleries) * len(members)
	before := 0 // members that are done
	for _, s := range states {
		before += len(s.Ran)
	}
	for k := len(s.Ran); k < last; k++ {
		m := members[k]
		err := r.run(m, k+1, func(n int) {
			r.o.Progress.Tell((before*q+n)*len(r.o.Galleries)/steps, len(r.o.Galleries)*q)
		})
		before++
		switch {
		case err != nil && r.ctx.Err() != nil:
			return &Stopped{s.Gallery, m.name, r.ctx.Err()}
		case err != nil:
			return fmt.Errorf("worst case, gallery %s, member %s: %w", s.Gallery, m.name, err)
		}
		if r.o.Keep != nil {
			if err := r.o.Keep(states); err != nil {
				return err
			}
		}
	}
	return nil
}

// Stopped is the error of a Run whose context ended in the middle of an attack.
type Stopped struct {
	Gallery, Attack string
	err             error
}

func (s *Stopped) Error() string {
	return fmt.Sprintf("worst case stopped in gallery %s, attack %s: %v", s.Gallery, s.Attack, s.err)
}

// Unwrap returns the error of the context.
func (s *Stopped) Unwrap() error { return s.err }

// run runs a member on the queries that are not broken; at eps 0 there is nothing to try.
func (r *runner) run(m member, place int, say func(n int)) error {
	start := time.Now()
	r.member, r.place, r.cost = m, place, record.Cost{}
	var survivors []int
	for p, by := range r.s.By {
		switch {
		case m.name == given:
			if by != 1 && len(r.given[p]) > 0 { // those that are broken, too: see givens
				survivors = append(survivors, p)
			}
		case !m.after && by == 0 || m.after && by > 1:
			survivors = append(survivors, p)
		}
	}
	if m.most > 0 {
		survivors = survivors[:min(len(survivors), m.most)]
	}
	ran := Ran{Member: m.name, Attacked: len(survivors)}
	if m.name == given {
		ran.Attacked = r.unbroken(survivors)
	}
	r.now = &ran
	whole := len(r.s.By)
	say(whole - len(survivors))
	if r.o.Eps == 0 && m.name != Clean {
		survivors = nil
	}
	if m.prepare != nil && len(survivors) > 0 {
		if err := m.prepare(r, survivors); err != nil {
			return err
		}
	}
	done := whole - len(survivors)
	err := r.batches(survivors, func(b *batch) error {
		if err := m.run(r, b); err != nil {
			return err
		}
		done += len(b.items)
		say(done)
		return nil
	})
	if err != nil {
		return err
	}
	ran.Seconds, ran.Cost = time.Since(start).Seconds(), r.cost
	r.s.Ran = append(r.s.Ran, ran)
	return nil
}

// unbroken counts those of some queries that are not broken.
func (r *runner) unbroken(places []int) (n int) {
	for _, p := range places {
		if r.s.By[p] == 0 {
			n++
		}
	}
	return n
}

// cleans finds the queries that are wrong as they are.
func (r *runner) cleans(b *batch) error {
	r.field.aim(b.items)
	r.field.find(b.clean, r.field.depth())
	for i, p := range b.places {
		r.s.Margin[p] = margin(r.field, i)
		copy(r.s.Images.Row(p), b.x.Row(i))
		if beaten(r.field, i) {
			r.s.By[p], r.s.Radius[p] = r.place, 0
			r.now.Claimed++
			r.now.Broken++
		}
	}
	return nil
}

// keepBest keeps the images of w, of rows of b, that are nearest to being broken so far.
func (r *runner) keepBest(b *batch, rows []int, w *batch) {
	r.field.aim(w.items)
	r.field.find(r.embed(r.model, w.adv), r.field.depth())
	for k, i := range rows {
		p, m := b.places[i], margin(r.field, k)
		if !b.claimed[i] && m < r.s.Margin[p] {
			r.s.Margin[p] = m
			copy(r.s.Images.Row(p), w.adv.Row(k))
		}
	}
}
