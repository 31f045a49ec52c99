package adversary

import (
	"fmt"

	"tercet/internal/component"
	"tercet/internal/engine/array"
	"tercet/internal/engine/nn"
	"tercet/internal/par"
	"tercet/internal/record"
	"tercet/internal/rng"
)

// nudge is the size of the shift that gives the distance from a point to itself a
// direction.
const nudge = 1e-7

func init() {
	Family.Register(component.Component[Keys]{Name: "est", Doc: "images perturbed to change their embeddings", Defaults: ESTKeys{"paper", CraftingDefaults()}})
}

// ESTKeys train on images perturbed to change their embeddings (embedding shift
// training).
type ESTKeys struct {
	Implementation string       `yaml:"implementation" was:"variant" words:"published=robrank" enum:"paper|robrank" doc:"robrank, the authors' code, adds 1e-6 to every coordinate difference"`
	PGD            CraftingKeys `yaml:"pgd" doc:"how images are perturbed"`
}

// New implements Keys.
func (k ESTKeys) New(s Setting) (Defense, error) {
	o, err := ESTDefaults(Implementation(k.Implementation))
	if err != nil {
		return nil, err
	}
	o.PGD = k.PGD.PGD(s.Side)
	given(&o.Tolerance, k.PGD.Tolerance)
	return NewEST(o)
}

// Fit implements Fitter.
func (k ESTKeys) Fit(in Fitting) []component.Fault { return k.PGD.fit(in) }

// Crafting implements Crafter.
func (k ESTKeys) Crafting() CraftingKeys { return k.PGD }

// Check implements component.Checker.
func (k ESTKeys) Check() []component.Fault { return k.PGD.faults() }

// ESTOptions configures embedding-shifted triplet training.
type ESTOptions struct {
	PGD PGD // budget and method; see Training
	// Eps is added to every coordinate difference inside distances.
	Eps       float64
	Tolerance float64 // end crafting when the mean shift changes by less; 0 takes all steps
}

// ESTDefaults returns the options of an implementation, PGD without a budget. robrank
// adds 1e-6 to every coordinate difference. Its nudge is then a tenth of that, and
// the first step of all images follows nearly the same direction (1, ..., 1); in
// paper that direction is the nudge's alone, random for each image.
func ESTDefaults(v Implementation) (ESTOptions, error) {
	eps, err := implementationEps("est", v)
	return ESTOptions{PGD: Training(), Eps: eps}, err
}

// EST trains on embedding-shifted triplets (Zhou et al., Adversarial Ranking Attack
// and Defense, ECCV 2020; supplement of Zhou & Patel, CVPR 2022, eq. 1): each image
// of the batch is moved as far as possible from its own embedding, and triplets are
// mined from the embeddings of the perturbed images.
//
// At the clean image the distance has no gradient, so that crafting would not
// begin. As in the authors' code, the clean embedding is shifted at the first
// iterate by 1e-7 times -1, 0 or 1, drawn for each coordinate (never all 0) from the
// seed, the step and the image's id.
type EST struct {
	trait
	o      ESTOptions
	goal   shifted
	images *array.Array
	stream rng.Stream
	batch  Batch
	reporting
}

// NewEST returns the defense, or an error naming the option that is wrong.
func NewEST(o ESTOptions) (*EST, error) {
	if err := checkOptions("est", &o.PGD, o.Eps, o.Tolerance); err != nil {
		return nil, err
	}
	e := &EST{trait: trait{"est", false}, o: o}
	e.goal.eps, e.goal.tolerance = o.Eps, o.Tolerance
	return e, nil
}

// Binds implements Binding.
func (e *EST) Binds() bool { return e.o.PGD.Binds() }

// Bind implements Binding.
func (e *EST) Bind(model *nn.Model) error { return e.o.PGD.Bind(model) }

// Craft implements Defense: the same rows, perturbed, without tuples. The clean
// embeddings are those of the first iterate where crafting starts there; otherwise
// they cost a pass, unless in has them.
func (e *EST) Craft(model nn.Embedder, in *Batch, seed, step uint64) (*Batch, record.Cost, error) {
	var cost record.Cost
	if err := checkBatch("est", in); err != nil {
		return nil, cost, err
	}
	rows := in.Images.Shape[0]
	g := &e.goal
	g.known, g.clean = false, fitMatrix(g.clean, rows, model.Dim())
	g.seed, g.step, g.ids = seed, step, in.IDs
	if e.o.PGD.Start == FromRandom {
		z := in.Clean
		if z == nil || e.o.PGD.Mode != nn.Eval {
			z = model.Embed(in.Images, e.o.PGD.Mode)
			cost.Forward += int64(rows)
		}
		if err := z.SameShape("clean embeddings", g.clean.Shape...); err != nil {
			return nil, cost, fmt.Errorf("est: %w", err)
		}
		copy(g.clean.Data, z.Data)
		g.known = true
	}
	e.images = fitRows(e.images, in.Images, rows)
	c, err := e.run(&e.o.PGD, model, in.Images, in.IDs, g, start(&e.stream, "est-start", seed, step), e.images)
	cost.Add(c)
	if err != nil {
		return nil, cost, fmt.Errorf("est: %w", err)
	}
	e.batch = Batch{Images: e.images, Labels: in.Labels, IDs: in.IDs}
	return &e.batch, cost, nil
}

// CleanRows implements Origin.
func (e *EST) CleanRows() *array.Array { return e.goal.clean }

// shifted is the goal of embedding shift: minus the distance of each perturbed
// image's embedding from its clean one.
type shifted struct {
	stall
	eps   float64
	clean *array.Array // (B, D)
	known bool         // else the first z is clean
	first bool         // z is clean

	nudges     *array.Array // (B, D) z - clean as it is taken at the first iterate
	zeros      []float32    // (D)
	seed, step uint64
	ids        []uint64
	streams    []rng.Stream

	// arguments of Run(lo, hi)
	z, grad *array.Array
	per     []float64
}

// Eval implements Goal.
func (g *shifted) Eval(z *array.Array, per []float64, grad *array.Array) error {
	rows := len(g.ids)
	if err := z.SameShape("embeddings", g.clean.Shape...); err != nil {
		return fmt.Errorf("est: %w", err)
	}
	if g.first = !g.known; g.first {
		copy(g.clean.Data, z.Data)
		g.nudges = fitMatrix(g.nudges, rows, z.Shape[1])
		g.zeros, g.streams = grow(g.zeros, z.Shape[1]), grow(g.streams, rows)
		g.known = true
	}
	g.z, g.per, g.grad = z, per, grad
	par.Do(rows, max(1, 2048/max(z.Shape[1], 1)), g)
	g.value = 0
	for _, v := range per[:rows] {
		g.value += v / float64(rows)
	}
	return nil
}

// Run evaluates images [lo, hi).
func (g *shifted) Run(lo, hi int) {
	cols := g.z.Shape[1]
	row := func(x *array.Array, i int) []float32 { return x.Data[i*cols:][:cols] }
	for i := lo; i < hi; i++ {
		x, y := row(g.z, i), row(g.clean, i)
		unfit := 0.0
		if g.first {
			// 0, or NaN where z is not finite, which PGD refuses.
			unfit = distance(x, y, 0)
			x, y = row(g.nudges, i), g.zeros
			g.draw(i, x)
		}
		d := distance(x, y, g.eps)
		g.per[i] = unfit - d
		if g.grad == nil {
			continue
		}
		scale := 0.0
		if d > 0 {
			scale = -1 / d
		}
		dz := row(g.grad, i)
		for k, v := range x {
			dz[k] = float32(scale * (float64(v) - float64(y[k]) + g.eps))
		}
	}
}

// draw writes what image i is moved by in place of its clean embedding to x.
func (g *shifted) draw(i int, x []float32) {
	r := &g.streams[i]
	r.Reset(g.seed, "est-nudge", g.step, g.ids[i])
	for some := false; !some; {
		for k := range x {
			n := 1 - r.IntN(3)
			x[k] = float32(n) * nudge
			some = some || n != 0
		}
	}
}
