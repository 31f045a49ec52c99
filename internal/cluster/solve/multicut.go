package solve

import (
	"context"
	"fmt"
	"math"
	"slices"

	"tercet/internal/cluster"
	"tercet/internal/cluster/multicut"
	"tercet/internal/data"
	"tercet/internal/option"
	"tercet/internal/record"
	"tercet/internal/rng"
)

// multicut clusters the items by a threshold on distances.
func (j *Job) multicut(ctx context.Context, doc *record.Cluster) error {
	o := &j.Options.Multicut
	l, src, warnings, err := j.Thresholds.Resolve(ctx, o.Link, o.ThresholdOptions)
	if err != nil {
		return err
	}
	if l, err = AdjustLink(o, l); err != nil {
		return err
	}
	doc.ThresholdFrom = src
	at := l.Threshold()
	doc.Threshold = &at
	doc.Warnings = append(doc.Warnings, warnings...)
	p, err := newProblem(ctx, j.Items, l, o, j.Options.Seed, j.Say)
	if err != nil {
		return err
	}
	j.graph = p.graph
	rec := &record.MulticutRecord{Link: linkRecord(l)}
	doc.Multicut = rec
	if err := p.Answer(ctx, doc, rec); err != nil {
		return err
	}
	if p.complete != nil {
		v := p.complete.Objective(doc.Labels)
		rec.Complete = &v
	}
	if n := len(doc.Sizes); j.Items.N > 1 && (n == 1 || n == j.Items.N) {
		doc.Warnings = append(doc.Warnings, j.extreme(n, at))
	}
	if !o.Alone {
		if rec.Comparison, err = j.compare(ctx, p, doc); err != nil {
			return err
		}
	}
	if p.factored != nil {
		j.model = newModel(j.Items, doc.Labels, doc.Sizes)
		j.model.Method, j.model.Tau, j.model.Source = Multicut, p.factored.Threshold(), doc.Source
	}
	return nil
}

// Answer solves the problem and bounds it. What is done after the clusters are found
// ends without an error where ctx does: see Clustered.Stopped.
func (p *Problem) Answer(ctx context.Context, doc *record.Cluster, rec *record.MulticutRecord) error {
	res, own, solver, err := p.solve(ctx)
	if err != nil {
		return err
	}
	bound, br, err := p.bound(ctx, own, res.Objective)
	if ctx.Err() != nil {
		bound, br, err = own, nil, nil
		if own != nil {
			br = &record.BoundRecord{Method: own.Method}
		}
	}
	if err != nil {
		return err
	}
	rec.Graph, rec.Solver, rec.Bound = p.record, solver, br
	doc.Measure = "cut costs"
	doc.Labels, doc.Sizes, doc.Clusters = res.Labels, res.Sizes, len(res.Sizes)
	doc.Objective = &res.Objective
	doc.Warnings = append(doc.Warnings, res.Warnings...)
	if bound != nil {
		gap := multicut.Gap(res.Objective, bound.Value)
		doc.LowerBound, doc.Gap = &bound.Value, &gap
		rec.Solver.Proven = solver.Proven || bound.Proves(res.Objective)
	}
	return nil
}

// extreme explains a clustering into one cluster or none.
func (j *Job) extreme(clusters int, threshold float64) string {
	low, middle, high := j.distances()
	what := "every item is a single-item cluster"
	if clusters == 1 {
		what = "all items are in one cluster"
	}
	return fmt.Sprintf("%s: the threshold is %.4g, and of the pairs' distances 5 %% are below %.4g, half below %.4g, 95 %% below %.4g", what, threshold, low, middle, high)
}

// distances returns the 5th, 50th and 95th percentile of the distances of pairs of
// items, from a sample.
func (j *Job) distances() (low, middle, high float64) {
	const pairs = 10_000
	r := rng.New(j.Options.Seed, "cluster/distances")
	d := make([]float64, pairs)
	for i := range d {
		a := r.IntN(j.Items.N)
		b := (a + 1 + r.IntN(j.Items.N-1)) % j.Items.N
		sum := 0.0
		for c := range j.Items.D {
			e := float64(j.Items.X[a*j.Items.D+c]) - float64(j.Items.X[b*j.Items.D+c])
			sum += float64(e * e)
		}
		d[i] = math.Sqrt(sum)
	}
	slices.Sort(d)
	return d[pairs/20], d[pairs/2], d[pairs-1-pairs/20]
}

// compare measures other clusterings of the items by the same costs.
func (j *Job) compare(ctx context.Context, p *Problem, doc *record.Cluster) (*record.Comparison, error) {
	c := p.Compare(doc, j.Items.Labels)
	k := doc.Clusters
	if j.Items.Labels != nil {
		k = data.Distinct(j.Items.Labels)
	}
	work := float64(j.Items.N) * float64(k) * float64(j.Items.D) // multiplications of an iteration
	if work > 1e11 {
		doc.Warnings = append(doc.Warnings, fmt.Sprintf("not compared with k-means: %d clusters of %d items would take long", k, j.Items.N))
		return c, nil
	}
	starts := max(1, min(j.Options.NInit, int(1e10/work)))
	if ctx.Err() != nil {
		return c, nil
	}
	km, err := cluster.KMeans(ctx, j.Items.X, j.Items.N, j.Items.D, cluster.KMeansOptions{
		K: k, Restarts: starts, Seed: j.Options.Seed,
		Progress: func(restart, _ int) { j.Say("k-means, to compare", restart, max(starts, restart)) },
	})
	if ctx.Err() != nil {
		return c, nil
	}
	if err != nil {
		return nil, err
	}
	c.KMeans = &record.Compared{Clusters: data.Distinct(km.Labels), Objective: p.costs.Objective(km.Labels)}
	if j.Items.Labels != nil {
		if c.KMeans.Clustering, err = Scores(j.Items.Labels, km.Labels); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// Compare measures the trivial clusterings and, where it is known, the truth.
func (p *Problem) Compare(doc *record.Cluster, truth []int32) *record.Comparison {
	n := p.record.Nodes
	apart := make([]int32, n)
	for i := range apart {
		apart[i] = int32(i)
	}
	c := &record.Comparison{
		OneCluster: record.Compared{Clusters: 1},
		Singletons: record.Compared{Clusters: n, Objective: p.costs.Objective(apart)},
	}
	if truth != nil {
		c.GroundTruth = &record.Compared{Clusters: data.Distinct(truth), Objective: p.costs.Objective(truth)}
		c.Verdict = Verdict(*doc.Objective, c.GroundTruth.Objective, doc.Multicut.Solver.Proven)
	}
	return c
}

// Verdict says whether the costs or the solver keep the answer from the truth.
func Verdict(found, truth float64, proven bool) string {
	by := math.Abs(truth - found)
	scale := max(math.Abs(found), math.Abs(truth))
	switch {
	case by <= 1e-9*scale:
		return "the ground truth costs the same as this answer"
	case truth < found && proven: // cannot be but by rounding
		return fmt.Sprintf("the ground truth costs less by %.3g, within the rounding of the costs", by)
	case truth < found:
		return fmt.Sprintf("the ground truth costs %.3g less (%.3g %%): the solver has missed better answers; try another %s or more %s", by, 100*by/scale, option.Name("solver"), option.Name("starts"))
	}
	return fmt.Sprintf("the ground truth costs %.3g more (%.3g %%): the errors come from the costs, not from the solver", by, 100*by/scale)
}
