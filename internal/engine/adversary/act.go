package adversary

import (
	"errors"
	"fmt"

	"tercet/internal/component"
	"tercet/internal/engine/array"
	"tercet/internal/engine/nn"
	"tercet/internal/par"
	"tercet/internal/record"
	"tercet/internal/rng"
)

func init() {
	Family.Register(component.Component[Keys]{Name: "act", Doc: "positive and negative perturbed towards each other", Defaults: ACTKeys{"paper", CraftingDefaults(), ACTMixKeys{Triplet: Benign}}})
}

// ACTKeys perturb positive and negative towards each other (anti-collapse triplets).
type ACTKeys struct {
	Implementation string       `yaml:"implementation" was:"variant" words:"published=robrank" enum:"paper|robrank|robrank-2021" doc:"robrank, the authors' code, adds 1e-6 to every coordinate difference; robrank-2021, the code before 2021-07-10, also leaves the anchor's embedding at its own length in the loss"`
	PGD            CraftingKeys `yaml:"pgd" doc:"how images are perturbed"`
	Mix            ACTMixKeys   `yaml:"mix" doc:"a further triplet loss, on benign images too"`
}

// ACTMixKeys add LAMBDA max(0, d(x,y) - d(x,z) + MARGIN) to the loss.
type ACTMixKeys struct {
	Triplet string  `yaml:"triplet" enum:"benign|benign-pair|positive" doc:"(x, y, z) of benign a, p, n and perturbed p~, n~: benign (a, p, n), regular training mixed in; benign-pair (a, p, n~); positive (p, p~, a)"`
	Lambda  float64 `yaml:"lambda" check:">=0" doc:"weight; 0 leaves it out"`
	Margin  float64 `yaml:"margin" check:">=0" doc:"margin; for benign triplets that of the loss, usually 0.2"`
}

// New implements Keys.
func (k ACTKeys) New(s Setting) (Defense, error) {
	o, err := ACTDefaults(Implementation(k.Implementation))
	if err != nil {
		return nil, err
	}
	o.PGD = k.PGD.PGD(s.Side)
	given(&o.Tolerance, k.PGD.Tolerance)
	o.Mix = ICSOptions(k.Mix)
	return NewACT(o)
}

// Crafting implements Crafter.
func (k ACTKeys) Crafting() CraftingKeys { return k.PGD }

// Check implements component.Checker.
func (k ACTKeys) Check() []component.Fault { return k.PGD.faults() }

// Fit implements Fitter.
func (k ACTKeys) Fit(in Fitting) []component.Fault {
	out := k.PGD.fit(in)
	if k.Implementation == string(Robrank2021) && !in.Normalized {
		out = append(out, component.Faultf("defense.implementation", "robrank-2021 leaves anchors alone at their own length, but all embeddings are: set model.normalize: true, or defense.implementation: robrank"))
	}
	return out
}

// Samples implements OnTriplets.
func (ACTKeys) Samples() bool { return false }

// ACTOptions configures anti-collapse triplet training.
type ACTOptions struct {
	PGD PGD // budget and method; see Training
	// Eps is added to every coordinate difference inside distances.
	Eps       float64
	Tolerance float64 // end crafting when the mean distance changes by less; 0 takes all steps
	// RawAnchor leaves the anchors' embeddings at their own length in the loss.
	RawAnchor bool
	// Mix adds a loss of Benign, BenignPair or Positive triplets.
	Mix ICSOptions
}

// ACTDefaults returns the options of an implementation, PGD without a budget: robrank
// adds 1e-6 to every coordinate difference, and robrank-2021 has raw anchors, too.
func ACTDefaults(v Implementation) (ACTOptions, error) {
	if v == Robrank2021 {
		return ACTOptions{PGD: Training(), Eps: 1e-6, RawAnchor: true}, nil
	}
	eps, err := implementationEps("act", v)
	return ACTOptions{PGD: Training(), Eps: eps}, err
}

// ACT trains on anti-collapse triplets (Zhou et al., Adversarial Attack and Defense
// in Deep Ranking, 2021; supplement of Zhou & Patel, CVPR 2022, eqs. 2 to 4):
// positive and negative of each triplet are perturbed jointly until their embeddings
// are as near as they can be; the anchor stays benign, and is trained on too. The
// rows of the batch are n anchors, n positives and n negatives; with Mix, n benign
// anchors and positives follow, and negatives where it has them.
type ACT struct {
	trait
	o           ACTOptions
	mix         *ics // nil without
	goal        collapsing
	stream      rng.Stream
	clean, made view // rows of positives and negatives
	rows        gathered
	reporting
}

// NewACT returns the defense, or an error naming the option that is wrong.
func NewACT(o ACTOptions) (*ACT, error) {
	if err := checkOptions("act", &o.PGD, o.Eps, o.Tolerance); err != nil {
		return nil, err
	}
	mix, err := newICS("act", o.Mix, o.Eps, []string{Benign, BenignPair, Positive})
	if err != nil {
		return nil, err
	}
	a := &ACT{trait: trait{"act", true}, o: o, mix: mix}
	a.goal.eps, a.goal.tolerance = o.Eps, o.Tolerance
	return a, nil
}

// Binds implements Binding.
func (a *ACT) Binds() bool { return a.o.PGD.Binds() }

// Bind implements Binding.
func (a *ACT) Bind(model *nn.Model) error { return a.o.PGD.Bind(model) }

// Craft implements Defense.
func (a *ACT) Craft(model nn.Embedder, in *Batch, seed, step uint64) (*Batch, record.Cost, error) {
	r := &a.rows
	n, err := r.take("act", in, a.mix.batchRoles())
	if err != nil {
		return nil, record.Cost{}, err
	}
	r.benign(n)
	a.goal.count = n
	cost, err := a.run(&a.o.PGD, model, a.clean.of(r.clean, n, 3*n), r.ids[n:], &a.goal, start(&a.stream, "act-start", seed, step), a.made.of(r.images, n, 3*n))
	if err != nil {
		return nil, cost, fmt.Errorf("act: %w", err)
	}
	if a.o.RawAnchor {
		m, ok := model.(interface{ LeaveRaw(rows ...[2]int) })
		if !ok {
			return nil, cost, errors.New("act: this network cannot leave the anchors' embeddings at their own length")
		}
		m.LeaveRaw([2]int{0, n})
	}
	return &r.batch, cost, nil
}

// Penalty implements Defense: the loss that Mix adds.
func (a *ACT) Penalty(b *Batch, z, dz *array.Array) (float64, error) {
	return a.mix.penalty(len(b.Tuples.Triplets), z, dz)
}

// collapsing is the goal of ACT: the mean of d(p,n). Rows of z are the positives,
// then their negatives.
type collapsing struct {
	stall
	eps   float64
	count int // triplets

	// arguments of Run(lo, hi)
	z, grad *array.Array
	per     []float64
}

// Eval implements Goal. A triplet's share of the mean is split evenly between its
// two rows.
func (g *collapsing) Eval(z *array.Array, per []float64, grad *array.Array) error {
	if z.Shape[0] != 2*g.count {
		return fmt.Errorf("act: %w: %d embeddings for %d triplets", array.ErrShape, z.Shape[0], g.count)
	}
	g.z, g.per, g.grad = z, per, grad
	par.Do(g.count, max(1, 2048/max(z.Shape[1], 1)), g)
	g.value = 0
	for _, v := range per[:g.count] {
		g.value += 2 * v
	}
	return nil
}

// Run evaluates triplets [lo, hi).
func (g *collapsing) Run(lo, hi int) {
	n, cols := g.count, g.z.Shape[1]
	row := func(x *array.Array, i int) []float32 { return x.Data[i*cols:][:cols] }
	for i := lo; i < hi; i++ {
		p, q := row(g.z, i), row(g.z, n+i)
		d := distance(p, q, g.eps)
		share := d / float64(2*n)
		g.per[i], g.per[n+i] = share, share
		if g.grad == nil {
			continue
		}
		gp, gq := row(g.grad, i), row(g.grad, n+i)
		scale := pull(1/float64(n), d)
		for k, v := range p {
			to := float32(scale * (float64(v) - float64(q[k]) + g.eps))
			gp[k], gq[k] = to, -to
		}
	}
}
