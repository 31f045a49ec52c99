package robustness

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"tercet/internal/attack/retrieval"
	"tercet/internal/certify"
	"tercet/internal/data"
	"tercet/internal/engine/array"
	"tercet/internal/engine/bound"
	"tercet/internal/engine/kernel"
	"tercet/internal/progress"
	"tercet/internal/record"
	"tercet/internal/run"
	"tercet/internal/stat"
	"tercet/internal/text"
)

// The keys of the scores of certificates.
const (
	CleanRecall     = "recall@1"
	certifiedRecall = record.Certified
)

// The methods of certificates.
const (
	Vote  = "vote"      // randomized smoothing
	IBP   = "ibp"       // interval bounds
	Crown = "crown-ibp" // interval bounds, and bounds that go backward through the network

	Lipschitz = "lipschitz" // a bound of the network's Lipschitz constant
	Mean      = "mean"      // the mean embedding under noise
)

// CertifyMethods are the methods by name, the default first.
func CertifyMethods() []string { return []string{Vote, Mean, IBP, Crown, Lipschitz} }

// Smoothed says whether a method certifies a system with noise, and not the network itself.
func Smoothed(method string) bool { return method == Vote || method == Mean }

// CertifyKeys are the scores of a document of certificates.
func CertifyKeys() []string { return []string{CleanRecall, certifiedRecall} }

// Certify proves for queries of a run that their nearest image keeps its class. It
// returns an error for a wrong option, for a checkpoint or data that cannot be read, for
// a network without bounds by the method, or if ctx ends.
func Certify(ctx context.Context, r *run.Run, checkpoint, set string, o record.CertifyOptions, say progress.Say) (*record.Certify, error) {
	start := time.Now()
	e, g, err := gallery(ctx, r, checkpoint, set, say)
	if err != nil {
		return nil, err
	}
	queries, excluded, err := g.Choose(o.Queries, o.Sample, o.Seed)
	if err != nil {
		return nil, err
	}
	what := certify.Options{Eps: o.Eps, Radii: o.Radii, Queries: queries, Gallery: o.Gallery, Progress: say.Of("certify")}
	prove := byIntervals
	switch o.Method {
	case Vote:
		prove = byVotes
	case Mean:
		prove = byMeans
	}
	res, err := prove(ctx, e, g, o, what)
	if err != nil {
		return nil, err
	}
	doc := &record.Certify{
		Schema: record.CertifySchema, Source: e.Source, Options: o, Queries: len(queries), Excluded: excluded, Gallery: res.Rows,
		Items: packItems(queries), Right: packBools(res.Right),
	}
	right := count(res.Right)
	clean := right
	if Smoothed(o.Method) {
		clean = cleanRight(g, queries)
	}
	doc.Scores = record.Scores{{Key: CleanRecall, Value: share(clean, len(queries), "r@1(certify)")}}
	for k, eps := range o.Eps {
		proven := count(res.Certified[k])
		p := record.CertifyPoint{Eps: eps, Certified: share(proven, len(queries), "certr@1("+o.Method+")"),
			Abstained: float64(right-proven) / float64(len(queries)), Proven: packBools(res.Certified[k])}
		if o.Moves {
			if p.Moved, err = movedWithin(ctx, e, g, queries, eps, o.Method, say); err != nil {
				return nil, err
			}
			doc.Cost.Forward += 2 * int64(g.Len())
		}
		p.TotalVariation, p.Lipschitz = reach(res.TotalVariation, eps), reach(res.Lipschitz, eps)
		doc.Points = append(doc.Points, p)
		if proven > 0 {
			doc.Largest = eps
		}
	}
	last := doc.Points[len(doc.Points)-1]
	doc.Scores = append(doc.Scores, record.Score{Key: certifiedRecall, Value: last.Certified})
	if res.Radii != nil {
		doc.Radii = record.Pack(res.Radii)
		doc.Largest = slices.Max(res.Radii)
	}
	if res.Lipschitz != nil {
		doc.TotalVariation, doc.Lipschitz = record.Pack(res.TotalVariation), record.Pack(res.Lipschitz)
	}
	if !Smoothed(o.Method) {
		doc.Kernels = kernel.Direct.String()
		doc.Warnings = intervalWarnings(doc, e.Model.Winograd())
	} else if o.Method == Vote {
		doc.Warnings = voteWarnings(doc)
	}
	doc.Warnings = append(doc.Warnings, r.Omitted()...)
	doc.Cost.Forward += int64(e.Data.Len()) + res.Passes
	doc.Cost.Seconds = time.Since(start).Seconds()
	return doc, nil
}

func byIntervals(ctx context.Context, e *run.Embedded, g *retrieval.Gallery, o record.CertifyOptions, what certify.Options) (*certify.Result, error) {
	net, err := bound.New(e.Model)
	switch {
	case err != nil:
	case o.Method == Crown:
		what.Crown, err = bound.NewCrown(net)
	case o.Method == Lipschitz:
		what.Lipschitz = bound.NewLipschitz(net)
	}
	switch {
	case errors.Is(err, bound.ErrNone):
		return nil, fmt.Errorf("%w: %v", data.ErrUnfit, err)
	case err != nil:
		return nil, err
	}
	return certify.Intervals(ctx, net, e.Data, g, what)
}

// movedWithin proves what it can of queries, as they are, where the gallery moves.
func movedWithin(ctx context.Context, e *run.Embedded, g *retrieval.Gallery, queries []int, eps float64, method string, say progress.Say) (*record.CertifyMoved, error) {
	net, err := bound.New(e.Model)
	if err != nil {
		return nil, err // which the certificate before has had
	}
	one, all, err := certify.Moved(ctx, net, e.Data, g, queries, eps, say.Of("gallery"))
	if err != nil {
		return nil, err
	}
	return &record.CertifyMoved{
		One: share(count(one), len(queries), "certr@1:g1("+method+")"), All: share(count(all), len(queries), "certr@1:ga("+method+")"),
		ProvenOne: packBools(one), ProvenAll: packBools(all),
	}, nil
}

func byVotes(ctx context.Context, e *run.Embedded, g *retrieval.Gallery, o record.CertifyOptions, what certify.Options) (*certify.Result, error) {
	return certify.Votes(ctx, e.Model, e.Data, g, voteOptions(o, what))
}

func byMeans(ctx context.Context, e *run.Embedded, g *retrieval.Gallery, o record.CertifyOptions, what certify.Options) (*certify.Result, error) {
	if !e.Model.Spec().Normalize {
		return nil, fmt.Errorf("%w: mean embeddings are certified where they have length 1; this run has model.normalize: false", data.ErrUnfit)
	}
	return certify.Means(ctx, e.Model, e.Data, g, voteOptions(o, what))
}

// reach is the share of radii that are above 0 and at least eps; nil of none.
func reach(radii []float64, eps float64) *float64 {
	if radii == nil {
		return nil
	}
	n := 0
	for _, r := range radii {
		if r > 0 && r >= eps {
			n++
		}
	}
	share := float64(n) / float64(len(radii))
	return &share
}

func voteOptions(o record.CertifyOptions, what certify.Options) certify.VoteOptions {
	return certify.VoteOptions{Options: what, Sigma: o.Sigma, Samples: o.Samples, Alpha: o.Alpha, Seed: o.Seed}
}

// cleanRight counts the queries whose nearest clean image has their class.
func cleanRight(g *retrieval.Gallery, queries []int) int {
	n := 0
	const together = 256
	for lo := 0; lo < len(queries); lo += together {
		part := queries[lo:min(lo+together, len(queries))]
		z := array.New(len(part), g.X.Cols())
		for i, q := range part {
			copy(z.Row(i), g.Embedding(q))
		}
		for i, row := range g.Nearest(z, part) {
			if row >= 0 && g.Labels[row] == g.Label(part[i]) {
				n++
			}
		}
	}
	return n
}

// voteWarnings says what a vote cannot certify.
func voteWarnings(d *record.Certify) []string {
	most := voteOptions(d.Options, certify.Options{}).MaxRadius()
	if last := d.Points[len(d.Points)-1].Eps; last > most {
		return []string{fmt.Sprintf("no vote of %d samples certifies more than eps %.3g: take more samples for larger budgets", d.Options.Samples, most)}
	}
	return nil
}

// intervalWarnings says what limits the meaning of interval bounds; winograd are the layers
// that compute so.
func intervalWarnings(d *record.Certify, winograd []string) []string {
	var out []string
	if winograd != nil {
		out = append(out, fmt.Sprintf("the proof is about direct convolutions; here Winograd computes %s, whose rounding has no proven bound: set %s=off where every bit counts",
			strings.Join(winograd, ", "), kernel.EnvWinograd))
	}
	if last := d.Points[len(d.Points)-1]; last.Eps > 0 && last.Certified.Value == 0 {
		said := fmt.Sprintf("no query is certified at eps %s: %s of networks that were not trained for them are wide", text.Eps(d.Options.Norm, last.Eps), boundsOf(d.Options.Method))
		if d.Largest > 0 {
			said += fmt.Sprintf("; the largest budget at which one is: %.3g", d.Largest)
		}
		out = append(out, said)
	}
	return out
}

// boundsOf names the bounds of a method.
func boundsOf(method string) string {
	if method == Lipschitz {
		return "bounds of spectral norms"
	}
	return "interval bounds"
}

// share is k of n with its exact interval.
func share(k, n int, definition string) record.Value {
	ci := stat.ClopperPearson(k, n)
	return record.Value{Value: float64(k) / float64(n), CI95: &ci, Definition: definition}
}

func count(list []bool) int {
	n := 0
	for _, v := range list {
		if v {
			n++
		}
	}
	return n
}

func packBools(list []bool) record.Packed {
	out := make([]float64, len(list))
	for i, v := range list {
		if v {
			out[i] = 1
		}
	}
	return record.Pack(out)
}
