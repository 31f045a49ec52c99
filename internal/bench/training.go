package bench

import (
	"context"
	"errors"
	"fmt"
	"math"

	"tercet/internal/data/batch"
	"tercet/internal/engine/adversary"
	"tercet/internal/engine/array"
	"tercet/internal/engine/kernel"
	"tercet/internal/engine/loss"
	"tercet/internal/engine/mine"
	"tercet/internal/engine/nn"
	"tercet/internal/engine/optim"
	"tercet/internal/lists"
	"tercet/internal/record"
	"tercet/internal/rng"
	"tercet/internal/train"
)

// learningRate is so small that a network stays what it is after its first
// steps: a long measurement does the same work as a short one.
const learningRate = 1e-6

// margin is gamma of the triplet loss.
const margin = 0.2

// training is a job that trains a network on batches held in memory. One
// repetition is one step of the training loop.
type training struct {
	name, what string
	spec       nn.Spec
	group      int     // 2: pairs, 3: triplets
	groups     int     // in a batch
	batches    int     // different ones, used in turn
	contrast   float64 // share of its class in an image
	objective  func() (loss.Objective, error)
	crafting   *crafting // nil: none
	// convolutions are those of the network, the first layer first.
	convolutions []layerShape
}

// crafting is PGD of hardness manipulation.
type crafting struct {
	eps, alpha float64
	steps      int
	precision  adversary.Precision
}

func trainings() []training {
	gray := nn.Spec{Height: 28, Width: 28, Channels: 1}
	mlp, cnn, c2f2 := gray, gray, gray
	mlp.Name = "mlp"
	cnn.Name, cnn.Filters = "cnn", "paper-text"
	c2f2.Name, c2f2.Normalize = "c2f2", true
	resnet := func(side int) nn.Spec {
		return nn.Spec{Name: "resnet18", Height: side, Width: side, Channels: 3, Normalize: true}
	}
	return []training{
		{"mlp", "DIBS MLP 784-200-200-200, contrastive loss, 128 pairs", mlp, 2, 128, 16, 0.4, contrastive, nil, nil},
		{"cnn47", "DIBS CNN 47-94-94, cosine loss, 128 pairs", cnn, 2, 128, 4, 0.4, cosine, nil, layersOf("cnn47")},
		{"c2f2", "C2F2 on 28x28, 128 triplets", c2f2, 3, 128, 4, 0.4, triplet, nil, layersOf("c2f2")},
		{"c2f2-hm8", "C2F2, 128 triplets, hardness manipulation by 8 PGD steps", c2f2, 3, 128, 4, 0.4, triplet,
			&crafting{77.0 / 255, 3.0 / 255, 8, adversary.Float32}, layersOf("c2f2")},
		{"c2f2-hm8-bf16", "the same, crafted with products of bfloat16 (needs AMX)", c2f2, 3, 128, 4, 0.4, triplet,
			&crafting{77.0 / 255, 3.0 / 255, 8, adversary.BF16}, layersOf("c2f2")},
		{"rn18", "ResNet-18 on 224x224, 8 triplets", resnet(224), 3, 8, 2, 0.5, triplet, nil, layersOf("rn18")},
		{"rn18-64", "ResNet-18 on 64x64, 32 triplets", resnet(64), 3, 32, 2, 0.5, triplet, nil, resnetShapes("rn18", 96, 64)},
		{"rn18-hm8", "ResNet-18 on 224x224, 4 triplets, hardness manipulation by 8 PGD steps", resnet(224), 3, 4, 2, 0.5, triplet,
			&crafting{8.0 / 255, 1.0 / 255, 8, adversary.Float32}, layersOf("rn18")},
		{"rn50", "ResNet-50 on 224x224, 4 triplets", resnet50(), 3, 4, 2, 0.5, triplet, nil, resnet50Shapes(12)},
		{"vits16", "ViT-S/16 on 224x224, 4 triplets", vit(), 3, 4, 2, 0.5, triplet, nil, vitShapes(12)},
	}
}

// Usual reports whether j is among the jobs that are measured where none is named: all but
// those that need bfloat16 where the level in use has no tiles.
func (j Job) Usual() bool {
	for _, t := range trainings() {
		if t.name == j.Name && t.crafting != nil && t.crafting.precision == adversary.BF16 {
			return kernel.Current() != kernel.Generic && kernel.CheckBF16() == nil
		}
	}
	return true
}

func trainingJobs() []Job {
	return lists.Map(trainings(), func(t training) Job {
		return Job{t.name, t.what, "", func(Options) ([]task, error) { return t.prepare() }}
	})
}

func triplet() (loss.Objective, error) {
	o := loss.TripletDefaults()
	o.Margin = margin
	return loss.NewTriplet(o)
}

func contrastive() (loss.Objective, error) { return loss.NewContrastive(loss.ContrastiveDefaults()) }

func cosine() (loss.Objective, error) { return loss.NewCosine(loss.CosineDefaults()) }

// prepare makes the job's one task: steps on batches in memory.
func (t training) prepare() ([]task, error) {
	trainer, model, err := t.trainer(t.makeBatches(), given{t.tuples()})
	if err != nil {
		return nil, err
	}
	direct, executed := t.flops(model)
	return []task{{
		images: t.group * t.groups, direct: direct, executed: executed, warmUp: 2,
		run: steps(trainer, 1), results: weights(model),
	}}, nil
}

// trainer wires a training run as internal/run does, but for batches and
// miner, which are given.
func (t training) trainer(batches train.Batches, miner mine.Miner) (*train.Trainer, *nn.Model, error) {
	model, err := nn.Build(t.spec, rng.New(0, "init"))
	if err != nil {
		return nil, nil, err
	}
	objective, err := t.objective()
	if err != nil {
		return nil, nil, err
	}
	optimizer, err := optim.New(optim.Config{Name: "adam"}, model.Params())
	if err != nil {
		return nil, nil, err
	}
	defense, err := t.defense()
	if err != nil {
		return nil, nil, err
	}
	return &train.Trainer{
		Options: train.Options{
			Mode: nn.Train, Steps: endless, StepsPerEpoch: endless, LogEvery: 20,
			// The monitor looks as often as by default; none of its limits is reached.
			Collapse: train.CollapseOptions{Every: 10, Cosine: 2},
		},
		Model:     model,
		Batches:   batches,
		Miner:     miner,
		Objective: objective,
		Defense:   defense,
		Optimizer: optimizer,
		Schedule:  func(int) float64 { return learningRate },
		Log:       func(*record.Event) error { return nil },
		Save:      func(bool) error { return nil },
		Mined:     rng.New(0, "mine"),
	}, model, nil
}

// steps is the run of a task whose repetition is n steps of the training loop.
func steps(trainer *train.Trainer, n int) func(context.Context, func() bool) error {
	return func(ctx context.Context, tick func() bool) error {
		ctx, stop := context.WithCancel(ctx)
		defer stop()
		done := 0
		trainer.Progress = func(*train.State, float64) {
			if done++; done%n == 0 && !tick() {
				stop()
			}
		}
		if err := trainer.Run(ctx); !errors.Is(err, train.ErrInterrupted) {
			return fmt.Errorf("training ended early: %w", err)
		}
		return nil
	}
}

// weights shows those of model.
func weights(model *nn.Model) func(visit func(string, []float32)) {
	return func(visit func(string, []float32)) {
		for _, p := range model.Params() {
			visit(p.Name, p.Value.Data)
		}
	}
}

// endless is more steps than any measurement does.
const endless = min(1<<40, math.MaxInt)

// flops counts the products of one step: forward, weight gradients and, but for
// the first layer, input gradients; crafting adds a forward pass and the input
// gradients of all layers for each of its steps.
func (t training) flops(model *nn.Model) (direct, executed float64) {
	crafts := 0.0
	if t.crafting != nil {
		crafts = float64(t.crafting.steps)
	}
	// The products of a layer in each direction, as the textbook has them and as
	// they are done.
	first := 1.0
	count := func(textbook, forward, input, weights float64) {
		inputs := 1 - first + crafts
		first = 0
		direct += textbook * (1 + crafts + inputs + 1)
		executed += forward*(1+crafts) + input*inputs + weights
	}
	for _, s := range t.convolutions {
		p := s.conv.Plan()
		for range s.times {
			count(convFLOPs(s.conv), executedFLOPs(s.conv, p.Fwd), executedFLOPs(s.conv, p.Input), executedFLOPs(s.conv, p.Weights))
		}
	}
	for _, l := range model.Describe() {
		if f := float64(l.FLOPs); multiplies(l) {
			count(f, f, f, f)
		}
	}
	images := float64(t.group * t.groups)
	return direct * images, executed * images
}

// multiplies says that a layer is matrix products, besides convolutions. The two gradients
// of each of the products of attention are counted as those of weights and of the input.
func multiplies(l record.Layer) bool { return l.Kind == "Linear" || l.Kind == "Attention" }

// tuples are the pairs or triplets of every batch: rows i, groups + i and, of
// triplets, 2 groups + i; every other pair is similar.
func (t training) tuples() loss.Tuples {
	var out loss.Tuples
	n := int32(t.groups)
	for i := range n {
		if t.group == 3 {
			out.Triplets = append(out.Triplets, loss.Triplet{A: i, P: n + i, N: 2*n + i})
		} else {
			out.Pairs = append(out.Pairs, loss.Pair{I: i, J: n + i, Similar: i%2 == 0})
		}
	}
	return out
}

// given is the miner of tuples that are known.
type given struct{ tuples loss.Tuples }

// Mine copies the tuples to out.
func (g given) Mine(_ *array.Array, _ []int32, _ *rng.Stream, out *loss.Tuples) (mine.Stats, error) {
	out.Triplets = append(out.Triplets[:0], g.tuples.Triplets...)
	out.Pairs = append(out.Pairs[:0], g.tuples.Pairs...)
	return mine.Stats{}, nil
}

// cycle gives its batches in turn, for ever.
type cycle struct {
	batches []*batch.Batch
	next    int
}

// Next returns the next batch.
func (c *cycle) Next(ctx context.Context) (*batch.Batch, error) {
	b := c.batches[c.next%len(c.batches)]
	c.next++
	return b, ctx.Err()
}

// Recycle does nothing: batches stay.
func (c *cycle) Recycle(*batch.Batch) {}
