package adversary

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"tercet/internal/engine/array"
	"tercet/internal/engine/loss"
	"tercet/internal/engine/mine"
	"tercet/internal/engine/nn"
	"tercet/internal/rng"
)

// HM trains on triplets whose images are perturbed until the triplets are about as
// hard as their destination (Zhou & Patel, Enhancing Adversarial Robustness for
// Deep Metric Learning, CVPR 2022). The objective is the triplet loss on the
// crafted batch: n anchors, n positives, n negatives; an image that occurs in
// several triplets is perturbed for each on its own. Where source and destination
// are one sampler nothing is perturbed.
//
// With ICS the benign anchors and positives follow as further rows, embedded in
// the same pass; robrank embeds them in a pass of their own, which differs where
// batch norm uses the batch's statistics.
//
// A gradual destination follows the loss: see Observer and Stateful.
type HM struct {
	o      HMOptions
	source mine.Miner // nil: tuples are given
	dest   destinations
	goal   towards
	narrow narrowing
	ics    *ics // nil without

	loss    float64 // l of the step before
	waiting bool    // a Craft whose loss was not observed

	stream rng.Stream
	mined  loss.Tuples
	clean  *array.Array // (3n, H, W, C)
	images *array.Array // (3n or 5n, H, W, C)
	first  array.Array  // the first 3n rows of images
	ids    []uint64     // rows of clean, for random starts
	tuples loss.Tuples
	batch  Batch
}

// NewHM returns the defence, or an error naming the option that is wrong.
func NewHM(o HMOptions) (*HM, error) {
	if err := o.validate(); err != nil {
		return nil, err
	}
	h := &HM{o: o, loss: o.First}
	h.goal.eps, h.goal.tolerance = o.Eps, o.Tolerance
	h.dest.d, h.dest.eps = o.Destination, o.Eps
	var err error
	if o.Source != "" {
		if h.source, err = mine.New(o.Source, o.Mine); err != nil {
			return nil, fmt.Errorf("hm: source: %w", err)
		}
	}
	if s := o.Destination.sampler(); s != "" && !h.same() {
		if h.dest.miner, err = mine.New(s, o.Mine); err != nil {
			return nil, fmt.Errorf("hm: destination: %w", err)
		}
	}
	if o.ICS.Lambda != 0 {
		if h.ics, err = newICS(o.ICS, o.Eps); err != nil {
			return nil, err
		}
	}
	return h, nil
}

// same reports whether source and destination are one sampler: HM[S, S].
func (h *HM) same() bool { return h.o.Destination.Name == h.o.Source }

// Name returns "hm".
func (h *HM) Name() string { return "hm" }

// MinesClean returns true: triplets are mined before they are perturbed.
func (h *HM) MinesClean() bool { return true }

// Craft implements Defense. The cost holds the crafting, and an Eval pass over the
// clean batch where its embeddings were needed but not given.
func (h *HM) Craft(model nn.Embedder, in *Batch, seed, step uint64) (*Batch, Cost, error) {
	var cost Cost
	if h.waiting {
		return nil, cost, errors.New("hm: the destination follows the loss, but the loss of the last step was not observed")
	}
	source, err := h.prepare(model, in, seed, step, &cost)
	if err != nil {
		return nil, cost, err
	}
	h.gather(in, source)
	if h.same() {
		copy(h.first.Data, h.clean.Data)
	} else if err := h.perturb(model, h.start(seed, step), &cost); err != nil {
		return nil, cost, fmt.Errorf("hm: %w", err)
	}
	h.waiting = h.o.Destination.gradual()
	return &h.batch, cost, nil
}

// perturb crafts h.first from h.clean.
func (h *HM) perturb(model nn.Embedder, seed uint64, cost *Cost) error {
	if h.o.Narrow {
		c, err := h.narrow.run(&h.o.PGD, model, h.clean, h.ids, &h.goal, seed, &h.first)
		cost.Add(c)
		return err
	}
	r, err := h.o.PGD.Run(model, h.clean, h.ids, &h.goal, seed, &h.first)
	if err != nil {
		return err
	}
	rows := int64(h.clean.Rows())
	cost.Add(Cost{Forward: rows * int64(r.Forward), Backward: rows * int64(r.Backward)})
	return nil
}

// prepare returns the source triplets and sets their destination.
func (h *HM) prepare(model nn.Embedder, in *Batch, seed, step uint64, cost *Cost) ([]loss.Triplet, error) {
	rows := in.Images.Shape[0]
	if len(in.Labels) != rows || len(in.IDs) != rows {
		return nil, fmt.Errorf("hm: %w: %d labels and %d ids for %d images", array.ErrShape, len(in.Labels), len(in.IDs), rows)
	}
	z := in.Clean
	if z == nil && (in.Tuples == nil || h.dest.miner != nil) {
		z = model.Embed(in.Images, nn.Eval)
		cost.Forward += int64(rows)
	}
	tuples := in.Tuples
	if tuples == nil {
		if h.source == nil {
			return nil, errors.New("hm: the batch has no triplets and no source sampler is set to mine them")
		}
		h.stream.Reset(seed, "hm-source", step)
		if _, err := h.source.Mine(z, in.Labels, &h.stream, &h.mined); err != nil {
			return nil, fmt.Errorf("hm: source %s: %w", h.o.Source, err)
		}
		tuples = &h.mined
	}
	source := tuples.Triplets
	if len(source) == 0 {
		return nil, errors.New("hm: the batch has no triplets")
	}
	for i, t := range source {
		for _, r := range [3]int32{t.A, t.P, t.N} {
			if r < 0 || int(r) >= rows {
				return nil, fmt.Errorf("hm: triplet %d (a %d, p %d, n %d): row %d is outside the batch of %d", i, t.A, t.P, t.N, r, rows)
			}
		}
	}
	h.goal.destination, h.goal.count = grow(h.goal.destination, len(source)), len(source)
	return source, h.dest.fill(h.goal.destination, source, z, in.Labels, h.loss, seed, step)
}

// gather lays out the clean images of the triplets and the batch to train on.
func (h *HM) gather(in *Batch, source []loss.Triplet) {
	n := len(source)
	roles := 3
	if h.ics != nil {
		roles = 5
	}
	h.clean, h.images = fitRows(h.clean, in.Images, 3*n), fitRows(h.images, in.Images, roles*n)
	pixels := len(in.Images.Data) / in.Images.Shape[0]
	h.first.Data, h.first.Shape = h.images.Data[:3*n*pixels], h.clean.Shape
	b := &h.batch
	b.Images, b.Tuples, b.Clean = h.images, &h.tuples, nil
	b.Labels, b.IDs, h.ids = grow(b.Labels, roles*n), grow(b.IDs, roles*n), grow(h.ids, 3*n)
	h.tuples.Triplets = grow(h.tuples.Triplets, n)
	for i, t := range source {
		for role, r := range [5]int32{t.A, t.P, t.N, t.A, t.P} {
			if role == roles {
				break
			}
			row, image := role*n+i, in.Images.Data[int(r)*pixels:][:pixels]
			b.Labels[row], b.IDs[row] = in.Labels[r], in.IDs[r]
			if role < 3 {
				copy(h.clean.Data[row*pixels:], image)
				h.ids[row] = uint64(row)
			} else {
				copy(h.images.Data[row*pixels:], image)
			}
		}
		h.tuples.Triplets[i] = loss.Triplet{A: int32(i), P: int32(n + i), N: int32(2*n + i)}
	}
}

// start returns the seed of the step's random starts: one per row, so that copies
// of an image start apart.
func (h *HM) start(seed, step uint64) uint64 {
	h.stream.Reset(seed, "hm-start", step)
	return h.stream.Uint64()
}

// Penalty implements Defense: lambda times the intra-class structure loss.
func (h *HM) Penalty(b *Batch, z, dz *array.Array) (float64, error) {
	if h.ics == nil {
		return 0, nil
	}
	return h.ics.add(len(b.Tuples.Triplets), z, dz)
}

// Observe implements Observer: l is the triplet loss on the crafted batch.
func (h *HM) Observe(l float64) { h.loss, h.waiting = l, false }

// hmState is what a checkpoint holds.
type hmState struct {
	Loss float64 `json:"loss"`
}

// State implements Stateful.
func (h *HM) State() json.RawMessage {
	b, err := json.Marshal(hmState{h.loss})
	if err != nil { // NaN or infinite: the run is lost, and Restore says so
		return json.RawMessage(`{}`)
	}
	return b
}

// Restore implements Stateful.
func (h *HM) Restore(state json.RawMessage) error {
	var s struct {
		Loss *float64 `json:"loss"`
	}
	if err := json.Unmarshal(state, &s); err != nil {
		return fmt.Errorf("hm: state: %w", err)
	}
	if s.Loss == nil || !(*s.Loss >= 0) {
		return fmt.Errorf("hm: state %s holds no loss of the step before", state)
	}
	h.loss, h.waiting = *s.Loss, false
	return nil
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
