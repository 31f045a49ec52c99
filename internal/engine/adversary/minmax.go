package adversary

import (
	"fmt"

	"tercet/internal/component"
	"tercet/internal/engine/array"
	"tercet/internal/engine/nn"
	"tercet/internal/record"
	"tercet/internal/rng"
)

func init() {
	Family.Register(component.Component[Keys]{Name: "minmax", Doc: "triplets perturbed to be as hard as they can be", Defaults: MinMaxKeys{"paper", true, CraftingDefaults()}})
}

// MinMaxKeys perturb triplets to be as hard as they can be.
type MinMaxKeys struct {
	Implementation string       `yaml:"implementation" was:"variant" words:"published=robrank" enum:"paper|robrank" doc:"robrank, the authors' code, adds 1e-6 to every coordinate difference"`
	Anchor         bool         `yaml:"anchor" doc:"perturb the anchor too"`
	PGD            CraftingKeys `yaml:"pgd" doc:"how images are perturbed"`
}

// New implements Keys.
func (k MinMaxKeys) New(s Setting) (Defense, error) {
	o, err := MinMaxDefaults(Implementation(k.Implementation))
	if err != nil {
		return nil, err
	}
	o.PGD, o.Anchor = k.PGD.PGD(s.Side), k.Anchor
	given(&o.Tolerance, k.PGD.Tolerance)
	return NewMinMax(o)
}

// Fit implements Fitter.
func (k MinMaxKeys) Fit(in Fitting) []component.Fault { return k.PGD.fit(in) }

// Crafting implements Crafter.
func (k MinMaxKeys) Crafting() CraftingKeys { return k.PGD }

// Check implements component.Checker.
func (k MinMaxKeys) Check() []component.Fault { return k.PGD.faults() }

// Samples implements OnTriplets.
func (MinMaxKeys) Samples() bool { return false }

// MinMaxOptions configures min-max training of triplets.
type MinMaxOptions struct {
	PGD PGD // budget and method; see Training
	// Eps is added to every coordinate difference inside distances.
	Eps       float64
	Tolerance float64 // end crafting when the mean changes by less; 0 takes all steps
	Anchor    bool    // perturb the anchor too
}

// MinMaxDefaults returns the options of an implementation, anchor perturbed, PGD without
// a budget: robrank adds 1e-6 to every coordinate difference.
func MinMaxDefaults(v Implementation) (MinMaxOptions, error) {
	eps, err := implementationEps("minmax", v)
	return MinMaxOptions{PGD: Training(), Eps: eps, Anchor: true}, err
}

// MinMax trains on triplets made as hard as they can be: mean[d(a,n) - d(a,p)] is
// minimized (Madry et al., ICLR 2018, for the triplet loss; supplement of Zhou &
// Patel, CVPR 2022, eq. 5, where it leads to collapse). It is hardness manipulation
// towards the constant 2 but for the objective, which here is linear. The rows of
// the batch are n anchors, n positives and n negatives.
//
// Without Anchor the anchor stays benign, its embedding fixed while crafting, and is
// trained on too. The authors' code of this (RAMD) forgets to normalize the fixed
// embedding, so that it compares points of the sphere with one far from it; here
// the anchor is embedded as the others are, in both implementations. A positive that is its
// own anchor, as softhard draws them, then has no gradient and stays benign, unless
// Eps gives it one.
type MinMax struct {
	trait
	o           MinMaxOptions
	goal        stretching
	stream      rng.Stream
	clean, made view // rows perturbed
	benign      view
	rows        gathered
	anchors     *array.Array // (n, D) fixed embeddings
	reporting
}

// NewMinMax returns the defense, or an error naming the option that is wrong.
func NewMinMax(o MinMaxOptions) (*MinMax, error) {
	if err := checkOptions("minmax", &o.PGD, o.Eps, o.Tolerance); err != nil {
		return nil, err
	}
	m := &MinMax{trait: trait{"minmax", true}, o: o}
	m.goal.eps, m.goal.tolerance = o.Eps, o.Tolerance
	return m, nil
}

// Binds implements Binding.
func (m *MinMax) Binds() bool { return m.o.PGD.Binds() }

// Bind implements Binding.
func (m *MinMax) Bind(model *nn.Model) error { return m.o.PGD.Bind(model) }

// Craft implements Defense. The cost holds a pass for fixed anchors where in has no
// embeddings that fit.
func (m *MinMax) Craft(model nn.Embedder, in *Batch, seed, step uint64) (*Batch, record.Cost, error) {
	r := &m.rows
	n, err := r.take("minmax", in, 3)
	if err != nil {
		return nil, record.Cost{}, err
	}
	var cost record.Cost
	from := 0
	m.goal.count, m.goal.anchors = n, nil
	if !m.o.Anchor {
		from = n
		r.benign(n)
		if err := m.fix(model, in, n, &cost); err != nil {
			return nil, cost, err
		}
		m.goal.anchors = m.anchors
	}
	c, err := m.run(&m.o.PGD, model, m.clean.of(r.clean, from, 3*n), r.ids[from:], &m.goal, start(&m.stream, "minmax-start", seed, step), m.made.of(r.images, from, 3*n))
	cost.Add(c)
	if err != nil {
		return nil, cost, fmt.Errorf("minmax: %w", err)
	}
	return &r.batch, cost, nil
}

// fix keeps the embeddings of the benign anchors. With the batch's statistics they
// are embedded among the clean triplets.
func (m *MinMax) fix(model nn.Embedder, in *Batch, n int, cost *record.Cost) error {
	m.anchors = fitMatrix(m.anchors, n, model.Dim())
	if z := in.Clean; z != nil && m.o.PGD.Mode == nn.Eval {
		if rows := in.Images.Shape[0]; len(z.Shape) != 2 || z.Shape[0] != rows || z.Shape[1] != model.Dim() {
			return fmt.Errorf("minmax: %w", z.SameShape("clean embeddings", rows, model.Dim()))
		}
		for i, t := range in.Tuples.Triplets {
			copy(m.anchors.Row(i), z.Row(int(t.A)))
		}
		return nil
	}
	rows := n
	if m.o.PGD.Mode != nn.Eval {
		rows = 3 * n
	}
	z := model.Embed(m.benign.of(m.rows.clean, 0, rows), m.o.PGD.Mode)
	cost.Forward += int64(rows)
	copy(m.anchors.Data, z.Data)
	return nil
}
