package experiment

import (
	"context"
	"fmt"
	"time"

	"tercet/internal/attack"
	"tercet/internal/data"
	"tercet/internal/engine/adversary"
	"tercet/internal/metric"
)

// AttackOptions is the resolved choice, budget and method of attacks.
type AttackOptions struct {
	Attacks    []string `json:"attacks"`  // CA+, ES, ...; SuiteNames lists those of a suite
	Variants   []string `json:"variants"` // published, fixed
	Norm       string   `json:"norm"`
	Eps        float64  `json:"eps"` // pixels in [0, 1]; 0 crafts nothing: clean scores
	Step       float64  `json:"step"`
	Iterations int      `json:"iterations"`
	Rule       string   `json:"rule"`      // fixed or auto
	Direction  string   `json:"direction"` // sign or normalized
	Start      string   `json:"start"`     // clean or random
	Restarts   int      `json:"restarts"`
	Keep       string   `json:"keep"`    // last or best
	Queries    int      `json:"queries"` // 0: all
	Sample     bool     `json:"sample"`
	Batch      int      `json:"batch"` // of the published means; 0: 128
	Seed       uint64   `json:"seed"`
	Bootstrap  int      `json:"bootstrap"`
	Draws      int      `json:"draws"` // of random targets, 0: 1
	W          int      `json:"w"`     // CA: queries, 0: 1
	M          int      `json:"m"`     // QA, SPQA: candidates, 0: 1
	Near       bool     `json:"near,omitempty"`
	Pure       bool     `json:"pure,omitempty"`
	XiScale    float64  `json:"xi_scale,omitempty"`
	XiWeight   float64  `json:"xi_weight,omitempty"`
	// Pictures is how many queries' images to keep, of PictureAttacks (none given:
	// ES, or the first attack).
	Pictures       int      `json:"-"`
	PictureAttacks []string `json:"-"`
}

// AttackProfile fills in the budget of a named profile; "auto" is rob28 for
// images of up to 64 pixels and rob224 for larger ones.
func (o *AttackOptions) AttackProfile(name string, side int) error {
	if name == "auto" {
		name = "rob28"
		if side > 64 {
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
	return nil
}

func (o *AttackOptions) pgd() adversary.PGD {
	return adversary.PGD{
		Norm: adversary.Norm(o.Norm), Eps: o.Eps, Step: o.Step, Iterations: o.Iterations,
		Rule: adversary.StepRule(o.Rule), Direction: adversary.Direction(o.Direction),
		Start: adversary.Start(o.Start), Restarts: o.Restarts, Keep: adversary.Keep(o.Keep),
	}
}

// Validate returns an error naming the first option that is wrong.
func (o AttackOptions) Validate() error {
	p := o.pgd()
	return p.Validate()
}

// Attacked is a result document and what its pictures and checks need.
type Attacked struct {
	Doc      *AttackDoc
	Result   *attack.ESResult
	Embedded *Embedded
}

// Attack runs the embedding-shift attack on a run's network.
func (r *Run) Attack(ctx context.Context, checkpoint, set string, o AttackOptions, say Say) (*Attacked, error) {
	if r.Config.Data.Name == "npy" {
		return nil, fmt.Errorf("%w: attacks need images with pixels in [0, 1]; this run is trained on vectors", data.ErrUnfit)
	}
	start := time.Now()
	e, err := r.Embed(ctx, checkpoint, set, 0, say)
	if err != nil {
		return nil, err
	}
	if err := twoClasses(e.Data.Labels()); err != nil {
		return nil, err
	}
	res, err := attack.ES(ctx, e.Model, e.Data, e.Vectors, e.Data.Labels(), attack.ESOptions{
		PGD: o.pgd(), Batch: o.Batch, Queries: o.Queries, Sample: o.Sample, Seed: o.Seed, Pictures: o.Pictures,
		Progress: func(done, total int) { say("attack", done, total) },
	})
	if err != nil {
		return nil, err
	}
	doc := &AttackDoc{
		Schema: "tercet.attack/2", Source: e.Source, Options: o, Queries: len(res.Queries), Excluded: res.Excluded,
		Scores: map[string]metric.Scores{}, Clean: map[string]metric.Scores{},
		Attacks: []AttackRecord{{Attack: "ES", Scores: []string{"ES:D", "ES:R"}, Radius: res.Radius, ZeroGradient: res.ZeroGradient}},
	}
	for _, v := range []struct {
		name string
		es   attack.ESVariant
	}{{"published", res.Published}, {"fixed", res.Fixed}} {
		scores, clean, err := esScores(ctx, v.name, v.es, o)
		if err != nil {
			return nil, err
		}
		doc.Scores[v.name] = scores
		doc.Clean[v.name] = clean
	}
	doc.Warnings = esWarnings(res)
	doc.Cost.Cost = res.Cost
	doc.Cost.Forward += int64(e.Data.Len())
	doc.Cost.Seconds = time.Since(start).Seconds()
	return &Attacked{doc, res, e}, nil
}

// esScores turns a variant into scores with intervals over queries. Published
// values are means of batch means: there each query's value is weighted as its
// batch weighs it, so that the interval is that of the published mean.
func esScores(ctx context.Context, name string, v attack.ESVariant, o AttackOptions) (scores, clean metric.Scores, err error) {
	n := len(v.Shift)
	values, clear := make([]float64, 0, 2*n), make([]float64, 0, n)
	for i := range n {
		w := 1.0
		if name == "published" {
			w = batchWeight(i, n, o.Batch)
		}
		values = append(values, w*v.Shift[i], w*one(v.Hit[i]))
		clear = append(clear, one(v.CleanHit[i]))
	}
	in := intervals(EvalOptions{Bootstrap: o.Bootstrap, Seed: o.Seed})
	scores, err = metric.Means(ctx, metric.Scores{
		{Key: "ES:D", Value: metric.Value{Definition: "es:d(" + name + ")"}},
		{Key: "ES:R", Value: metric.Value{Definition: "es:r(" + name + ")"}},
	}, values, in)
	if err != nil {
		return nil, nil, err
	}
	scores[0].Value.Value, scores[1].Value.Value = v.D, v.R
	if ci := scores[1].CI95; ci != nil { // resampled weights can pass the end of the range
		ci[1] = min(ci[1], 1)
	}
	clean, err = metric.Means(ctx, metric.Scores{{Key: "recall@1", Value: metric.Value{Definition: "recall@1(any)"}}}, clear, in)
	return scores, clean, err
}

// batchWeight is what query i of n counts in a mean of batch means, relative to
// the plain mean: more in a short last batch.
func batchWeight(i, n, batch int) float64 {
	if batch <= 0 {
		batch = attack.DefaultBatch
	}
	batches := (n + batch - 1) / batch
	size := min(batch, n-i/batch*batch)
	return float64(n) / float64(batches*size)
}

func one(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

func esWarnings(r *attack.ESResult) []string {
	var out []string
	if r.NotNormalized {
		out = append(out, "embeddings are not of length 1: ES:D has no fixed range and cannot be compared with published values; train with model.normalize: true")
	}
	if r.Collapsed {
		out = append(out, fmt.Sprintf("embeddings have collapsed (mean cosine of two images %.4f): a small ES:D is no robustness here", r.MeanCosine))
	}
	if r.ZeroGradient > 0.1 {
		out = append(out, fmt.Sprintf("%.0f %% of the gradients vanished: the attack was blind, not beaten; try --start random or --rule auto", 100*r.ZeroGradient))
	}
	if r.Excluded > 0 {
		out = append(out, fmt.Sprintf("%d images were not attacked: no other image has their label", r.Excluded))
	}
	return out
}
