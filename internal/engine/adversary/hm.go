package adversary

import (
	"encoding/json"
	"errors"
	"fmt"

	"tercet/internal/engine/array"
	"tercet/internal/engine/loss"
	"tercet/internal/engine/mine"
	"tercet/internal/engine/nn"
	"tercet/internal/record"
	"tercet/internal/rng"
)

// HM trains on triplets whose images are perturbed until the triplets are about as
// hard as their destination (Zhou & Patel, Enhancing Adversarial Robustness for
// Deep Metric Learning, CVPR 2022). The objective is the triplet loss on the
// crafted batch: n anchors, n positives, n negatives; an image that occurs in
// several triplets is perturbed for each on its own. Where source and destination
// are one sampler nothing is perturbed.
//
// With ICS the benign anchors and positives (and negatives, where they are of the
// triplet) follow as further rows, embedded in the same pass; robrank embeds them in a pass of their own, which differs where
// batch norm uses the batch's statistics.
//
// A gradual destination follows the loss: see Observer and Stateful.
type HM struct {
	trait
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
	wanted float64 // mean destination
	gathered
	reporting
}

// NewHM returns the defense, or an error naming the option that is wrong.
func NewHM(o HMOptions) (*HM, error) {
	if err := o.validate(); err != nil {
		return nil, err
	}
	h := &HM{trait: trait{"hm", true}, o: o, loss: o.First}
	h.goal.eps, h.goal.tolerance = o.Eps, o.Tolerance
	h.dest.d, h.dest.eps = o.Destination, o.Eps
	var err error
	if o.Source != "" {
		if h.source, err = mine.New(o.Source, o.Mine); err != nil {
			return nil, fmt.Errorf("hm: source: %w", err)
		}
	}
	if s := o.Destination.Draws(); s != "" && !h.same() {
		if h.dest.miner, err = mine.New(s, o.Mine); err != nil {
			return nil, fmt.Errorf("hm: destination: %w", err)
		}
	}
	if h.ics, err = newICS("hm", o.ICS, o.Eps, hmTriplets); err != nil {
		return nil, err
	}
	return h, nil
}

// same reports whether source and destination are one sampler: HM[S, S].
func (h *HM) same() bool { return h.o.Destination.Name == h.o.Source }

// Binds implements Binding.
func (h *HM) Binds() bool { return h.o.PGD.Binds() }

// Bind implements Binding.
func (h *HM) Bind(model *nn.Model) error { return h.o.PGD.Bind(model) }

// Craft implements Defense. The cost holds the crafting, and an Eval pass over the
// clean batch where its embeddings were needed but not given.
func (h *HM) Craft(model nn.Embedder, in *Batch, seed, step uint64) (*Batch, record.Cost, error) {
	var cost record.Cost
	if h.waiting {
		return nil, cost, errors.New("hm: the destination follows the loss, but the loss of the last step was not observed")
	}
	source, err := h.prepare(model, in, seed, step, &cost)
	if err != nil {
		return nil, cost, err
	}
	h.gather(in, source, h.ics.batchRoles())
	if h.crafted = (Crafted{}); h.same() {
		copy(h.first.Data, h.clean.Data)
	} else if err := h.perturb(model, start(&h.stream, "hm-start", seed, step), &cost); err != nil {
		return nil, cost, fmt.Errorf("hm: %w", err)
	} else {
		h.crafted.Wanted = &h.wanted
	}
	h.waiting = h.o.Destination.Gradual()
	return &h.batch, cost, nil
}

// perturb crafts h.first from h.clean.
func (h *HM) perturb(model nn.Embedder, seed uint64, cost *record.Cost) error {
	if h.o.Narrow {
		c, err := h.narrow.run(&h.o.PGD, model, h.clean, h.ids, &h.goal, seed, &h.first)
		cost.Add(c)
		h.crafted = h.narrow.crafted
		return err
	}
	c, err := h.run(&h.o.PGD, model, h.clean, h.ids, &h.goal, seed, &h.first)
	cost.Add(c)
	return err
}

// prepare returns the source triplets and sets their destination.
func (h *HM) prepare(model nn.Embedder, in *Batch, seed, step uint64, cost *record.Cost) ([]loss.Triplet, error) {
	if err := checkBatch("hm", in); err != nil {
		return nil, err
	}
	rows := in.Images.Shape[0]
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
	if err := checkTriplets("hm", source, rows); err != nil {
		return nil, err
	}
	h.goal.destination, h.goal.count = grow(h.goal.destination, len(source)), len(source)
	if err := h.dest.fill(h.goal.destination, source, z, in.Labels, h.loss, seed, step); err != nil {
		return nil, err
	}
	h.wanted = 0
	for _, v := range h.goal.destination {
		h.wanted += v / float64(len(source))
	}
	return source, nil
}

// hmTriplets are those that ICS can have here: all six images are at hand.
var hmTriplets = []string{Structure, CraftedPositive, Positive, CraftedNegative, Benign, BenignPair}

// Penalty implements Defense: the loss that ICS adds.
func (h *HM) Penalty(b *Batch, z, dz *array.Array) (float64, error) {
	return h.ics.penalty(len(b.Tuples.Triplets), z, dz)
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
