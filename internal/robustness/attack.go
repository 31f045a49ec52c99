package robustness

import (
	"context"
	"fmt"
	"time"

	"tercet/internal/attack"
	"tercet/internal/attack/retrieval"
	"tercet/internal/data"
	"tercet/internal/embed"
	"tercet/internal/engine/adversary"
	"tercet/internal/lists"
	"tercet/internal/progress"
	"tercet/internal/record"
	"tercet/internal/run"
)

// Profile fills in the budget of a named profile; "auto" is rob28 for
// images of up to 64 pixels and rob224 for larger ones.
func Profile(o *record.AttackOptions, name string, side int) error {
	if name == "auto" {
		name = "rob28"
		if side > adversary.SmallImages {
			name = "rob224"
		}
	}
	p, err := attack.ProfileNamed(name)
	if err != nil {
		return err
	}
	d := p.PGD()
	o.Norm, o.Eps, o.Step, o.Iterations = string(d.Norm), p.Eps, p.Step, p.Iterations
	o.Rule, o.Direction, o.Start, o.Restarts, o.Keep = string(d.Rule), string(d.Direction), string(d.Start), d.Restarts, string(d.Keep)
	if o.Batch == 0 {
		o.Batch = p.Batch
	}
	return nil
}

func pgdOf(o *record.AttackOptions) adversary.PGD {
	return adversary.PGD{
		Norm: adversary.Norm(o.Norm), Eps: o.Eps, Step: o.Step, Iterations: o.Iterations,
		Rule: adversary.StepRule(o.Rule), Direction: adversary.Direction(o.Direction),
		Start: adversary.Start(o.Start), Restarts: o.Restarts, Keep: adversary.Keep(o.Keep),
	}
}

// ValidateAttack returns an error naming the first option that is wrong.
func ValidateAttack(o record.AttackOptions) error {
	p := pgdOf(&o)
	return p.Validate()
}

// resolveAttack fills in what 0 stands for, so that documents say it.
func resolveAttack(o *record.AttackOptions) {
	if len(o.Variants) == 0 {
		for _, v := range attack.Variants() {
			o.Variants = append(o.Variants, string(v))
		}
	}
	if o.Batch == 0 {
		o.Batch = attack.DefaultBatch
	}
	o.Draws, o.W, o.M = max(o.Draws, 1), max(o.W, 1), max(o.M, 1)
}

// Attacked is a result document and what its pictures and checks need.
type Attacked struct {
	Doc      *record.Attack
	Result   *attack.Result
	Embedded *run.Embedded
	Gallery  *retrieval.Gallery
}

// Attack runs attacks on a run's network. It returns an error for a wrong option, for a
// checkpoint or data that cannot be read, or if ctx ends.
func Attack(ctx context.Context, r *run.Run, checkpoint, set string, o record.AttackOptions, say progress.Say) (*Attacked, error) {
	start := time.Now()
	e, g, err := prepare(ctx, r, checkpoint, set, &o, say)
	if err != nil {
		return nil, err
	}
	res, err := runAttacks(o, ctx, e, g, say.Of("attack"))
	if err != nil {
		return nil, err
	}
	a, err := describe(ctx, o, e, g, res)
	if err == nil {
		a.Doc.Warnings = append(a.Doc.Warnings, r.Omitted()...)
		a.Doc.Cost.Seconds = time.Since(start).Seconds()
	}
	return a, err
}

// prepare embeds what attacks are on and fills in the options.
func prepare(ctx context.Context, r *run.Run, checkpoint, set string, o *record.AttackOptions, say progress.Say) (*run.Embedded, *retrieval.Gallery, error) {
	e, g, err := gallery(ctx, r, checkpoint, set, say)
	settle(o, g)
	return e, g, err
}

// settle fills in the options; g may be nil after an error.
func settle(o *record.AttackOptions, g *retrieval.Gallery) {
	all := len(o.Variants) == 0
	resolveAttack(o)
	if g != nil {
		o.Variants = settled(o.Variants, all, g)
	}
}

// describe makes the document of a result, without the time.
func describe(ctx context.Context, o record.AttackOptions, e *run.Embedded, g *retrieval.Gallery, res *attack.Result) (*Attacked, error) {
	var err error
	doc := &record.Attack{
		Schema: record.AttackSchema, Source: e.Source, Options: o, Queries: len(res.Queries), Excluded: res.Excluded,
		Scores: map[string]record.Scores{}, Clean: map[string]record.Scores{}, RightWhenClean: map[string]record.RightWhenClean{},
		Attacks: records(res), Warnings: warnings(res, g.Apart()), Gallery: searched(g), Cost: record.CostRecord{Cost: res.Cost},
	}
	for k := range res.Scored {
		s := &res.Scored[k]
		name := string(s.Variant)
		if doc.Scores[name], err = scores(ctx, s, s.Adversarial, nil, o); err != nil {
			return nil, err
		}
		if doc.Clean[name], err = scores(ctx, s, s.Clean, nil, o); err != nil {
			return nil, err
		}
		if o.PerQuery {
			keepValues(doc, res, s)
		}
		right, ok := s.Right()
		if !ok {
			continue
		}
		w := record.RightWhenClean{Queries: len(right)}
		if len(right) > 0 {
			if w.Scores, err = scores(ctx, s, s.Adversarial, right, o); err != nil {
				return nil, err
			}
		}
		doc.RightWhenClean[name] = w
	}
	doc.Cost.Forward += int64(e.Data.Len())
	return &Attacked{doc, res, e, g}, nil
}

// gallery embeds the set that attacks are on; the network is frozen.
func gallery(ctx context.Context, r *run.Run, checkpoint, set string, say progress.Say) (*run.Embedded, *retrieval.Gallery, error) {
	if err := images(r); err != nil {
		return nil, nil, err
	}
	return galleryOf(r.Embed(ctx, checkpoint, set, 0, say))
}

// images returns an error if the run's data have no pixels.
func images(r *run.Run) error {
	if r.Config.Data.Options.Traits().Vectors {
		return fmt.Errorf("%w: attacks need images with pixels in [0, 1]; this run is trained on vectors", data.ErrUnfit)
	}
	return nil
}

// galleryOf freezes the network that a set was embedded by.
func galleryOf(e *run.Embedded, err error) (*run.Embedded, *retrieval.Gallery, error) {
	if err != nil {
		return nil, nil, err
	}
	if err := embed.TwoClasses(e.Data.Labels()); err != nil {
		return nil, nil, err
	}
	e.Model.Freeze()
	var g *retrieval.Gallery
	if roles := data.RolesOf(e.Data); roles != nil {
		g, err = retrieval.NewGalleryOf(e.Vectors, e.Data.Labels(), retrieval.Sides(*roles))
	} else {
		g, err = retrieval.NewGallery(e.Vectors, e.Data.Labels())
	}
	if err != nil {
		return nil, nil, err
	}
	return e, g, nil
}

// settled returns the variants that are run: all of those that the gallery has, where none
// was asked for.
func settled(variants []string, all bool, g *retrieval.Gallery) []string {
	if !all {
		return variants
	}
	variants = nil
	for _, v := range attack.VariantsOn(g) {
		variants = append(variants, string(v))
	}
	return variants
}

// searched is the number of images of a gallery that are not all queries, 0 for others.
func searched(g *retrieval.Gallery) int {
	if g.Apart() {
		return g.Len()
	}
	return 0
}

// runAttacks runs the attacks on e with the gallery g of its embeddings.
func runAttacks(o record.AttackOptions, ctx context.Context, e *run.Embedded, g *retrieval.Gallery, say progress.Count) (*attack.Result, error) {
	return attack.Run(ctx, e.Model, e.Data, g, attackOptions(o, say))
}

func attackOptions(o record.AttackOptions, say progress.Count) attack.Options {
	variants := lists.Map(o.Variants, func(v string) attack.Variant { return attack.Variant(v) })
	return attack.Options{
		Attacks: o.Attacks, Variants: variants, PGD: pgdOf(&o),
		Method: attack.MethodOptions{W: o.W, M: o.M, Near: o.Near, Pure: o.Pure, Xi: attack.Xi{Scale: o.XiScale, Weight: o.XiWeight}},
		Draws:  o.Draws, Batch: o.Batch, Queries: o.Queries, Sample: o.Sample, Seed: o.Seed,
		Pictures: o.Pictures, PictureAttacks: o.PictureAttacks, Progress: say,
	}
}
