package robustness

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"tercet/internal/certify"
	"tercet/internal/data"
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
	CertifiedRecall = "certR@1"
)

// CertifyKeys are the scores of a document of certificates.
func CertifyKeys() []string { return []string{CleanRecall, CertifiedRecall} }

// Certify proves for queries of a run that their nearest image keeps its class.
func Certify(ctx context.Context, r *run.Run, checkpoint, set string, o record.CertifyOptions, say progress.Say) (*record.Certify, error) {
	start := time.Now()
	e, g, err := gallery(ctx, r, checkpoint, set, say)
	if err != nil {
		return nil, err
	}
	net, err := bound.New(e.Model)
	switch {
	case errors.Is(err, bound.ErrNone):
		return nil, fmt.Errorf("%w: %v", data.ErrUnfit, err)
	case err != nil:
		return nil, err
	}
	queries, excluded, err := g.Choose(o.Queries, o.Sample, o.Seed)
	if err != nil {
		return nil, err
	}
	res, err := certify.Intervals(ctx, net, e.Data, g, certify.Options{Eps: o.Eps, Radii: o.Radii, Queries: queries, Progress: say.Of("certify")})
	if err != nil {
		return nil, err
	}
	doc := &record.Certify{
		Schema: record.CertifySchema, Source: e.Source, Options: o, Queries: len(queries), Excluded: excluded, Gallery: g.Len(), Kernels: kernel.Direct.String(),
		Items: packItems(queries), Right: packBools(res.Right),
	}
	right := count(res.Right)
	doc.Scores = record.Scores{{Key: CleanRecall, Value: share(right, len(queries), "r@1(certify)")}}
	for k, eps := range o.Eps {
		proven := count(res.Certified[k])
		doc.Points = append(doc.Points, record.CertifyPoint{Eps: eps, Certified: share(proven, len(queries), "certr@1("+o.Method+")"),
			Abstained: float64(right-proven) / float64(len(queries)), Proven: packBools(res.Certified[k])})
		if proven > 0 {
			doc.Largest = eps
		}
	}
	last := doc.Points[len(doc.Points)-1]
	doc.Scores = append(doc.Scores, record.Score{Key: CertifiedRecall, Value: last.Certified})
	if res.Radii != nil {
		doc.Radii = record.Pack(res.Radii)
		doc.Largest = slices.Max(res.Radii)
	}
	doc.Warnings = certifyWarnings(doc, e.Model.Winograd())
	doc.Cost.Forward = int64(e.Data.Len()) + res.Passes
	doc.Cost.Seconds = time.Since(start).Seconds()
	return doc, nil
}

// certifyWarnings says what limits the meaning of certificates; winograd are the layers
// that compute so.
func certifyWarnings(d *record.Certify, winograd []string) []string {
	var out []string
	if winograd != nil {
		out = append(out, fmt.Sprintf("the proof is about direct convolutions; %s uses Winograd here, whose rounding has no proven bound: set %s=off where every bit counts",
			strings.Join(winograd, ", "), kernel.EnvWinograd))
	}
	if last := d.Points[len(d.Points)-1]; last.Eps > 0 && last.Certified.Value == 0 {
		said := fmt.Sprintf("no query is certified at eps %s: interval bounds of networks that were not trained for them are wide", text.Eps(d.Options.Norm, last.Eps))
		if d.Largest > 0 {
			said += fmt.Sprintf("; the largest budget at which one is: %.3g", d.Largest)
		}
		out = append(out, said)
	}
	return out
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
