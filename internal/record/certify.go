package record

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"tercet/internal/lists"
	"tercet/internal/text"
)

// CertifyOptions is the resolved method and budget of certificates.
type CertifyOptions struct {
	Method  string    `json:"method" doc:"method of proof: 'vote' (randomized smoothing), 'mean' (mean embedding under noise), 'ibp' (interval bounds), 'crown-ibp' (interval, then backward linear bounds) or 'lipschitz' (spectral norms)"`
	Norm    string    `json:"norm" doc:"norm of the budgets: 'l2' (vote, mean, lipschitz) or 'linf' (ibp, crown-ibp)"`
	Eps     []float64 `json:"eps" doc:"budgets, pixels in [0, 1], ascending"`
	Radii   bool      `json:"radii" doc:"whether the largest certified budget of each query was searched"`
	Gallery string    `json:"gallery,omitempty" doc:"'trimmed' or 'prototype', as in worst.json; absent for all rows"`
	Moves   bool      `json:"gallery_moves,omitempty" doc:"whether perturbed gallery images were also covered, with clean queries"`
	Queries int       `json:"queries" doc:"number of queries; 0 is all"`
	Sample  bool      `json:"sample" doc:"whether the queries are a random sample"`
	Seed    uint64    `json:"seed" doc:"random seed"`
	Sigma   float64   `json:"sigma,omitempty" doc:"vote, mean: standard deviation of the noise, pixels in [0, 1]"`
	Samples int       `json:"samples,omitempty" doc:"vote, mean: noise samples for each query, after those that choose its class (vote: 100) or its rows (mean: 1,000)"`
	Alpha   float64   `json:"alpha,omitempty" doc:"vote, mean: probability that the certificate of a query is wrong"`
}

// Certify is certify.json, schema tercet.certify/1: for how many queries it is proven that
// their nearest image keeps its class.
type Certify struct {
	Schema         string           `json:"schema" doc:"the name and number of the schema"`
	Source         Source           `json:"source" doc:"what the result was computed from"`
	Options        CertifyOptions   `json:"options" doc:"the options of the command, with defaults filled in"`
	Queries        int              `json:"queries" doc:"number of queries"`
	Excluded       int              `json:"queries_excluded,omitempty" doc:"queries left out because no other image has their label"`
	Gallery        int              `json:"gallery" doc:"images that are searched"`
	Kernels        string           `json:"kernels,omitempty" doc:"ibp, crown-ibp, lipschitz: the convolutions that the proof covers; 'direct' is float32 with 'TERCET_WINOGRAD=off'"`
	Scores         Scores           `json:"scores" doc:"'recall@1' of clean images, and 'certR@1' at the largest budget"`
	Points         []CertifyPoint   `json:"points" doc:"certified shares by ascending budget"`
	Largest        float64          `json:"largest" doc:"largest budget at which any query is certified"`
	Items          Packed           `json:"items" doc:"index of each query among the images: float32, little-endian, zlib, base64"`
	Right          Packed           `json:"right" doc:"1 for each query whose nearest image is right (vote, mean: whose result under noise is right), else 0, packed as 'items' are"`
	Radii          Packed           `json:"radii,omitempty" doc:"largest certified budget of each query, packed as 'items' are; ibp, crown-ibp, lipschitz: in steps of 2 %"`
	TotalVariation Packed           `json:"radii_total_variation,omitempty" doc:"mean: largest budgets by total variation, packed as 'items' are"`
	Lipschitz      Packed           `json:"radii_lipschitz,omitempty" doc:"mean: largest budgets by the Lipschitz constant, packed as 'items' are"`
	Attacked       *CertifyAttacked `json:"attacked,omitempty" doc:"comparison with 'worst.json', if it has the same weights, images and norm"`
	Warnings       []string         `json:"warnings,omitempty" doc:"what limits the meaning of the numbers"`
	Cost           CostRecord       `json:"cost" doc:"passes through the network, and the time"`
}

// CertifyPoint is what is proven at one budget.
type CertifyPoint struct {
	Eps            float64  `json:"eps" doc:"budget, pixels in [0, 1]"`
	Certified      Value    `json:"certified" doc:"share of all queries that are certified"`
	Abstained      float64  `json:"abstained" doc:"share of all queries that are right when clean, but not certified"`
	TotalVariation *float64 `json:"total_variation,omitempty" doc:"mean: share certified by the bound on total variation"`
	Lipschitz      *float64 `json:"lipschitz,omitempty" doc:"mean: share certified by the Lipschitz constant of the mean embedding"`
	Proven         Packed   `json:"proven" doc:"1 for each certified query, else 0, packed as 'items' are"`
	// Moved is of attacks on the gallery; nil where they were not asked for.
	Moved *CertifyMoved `json:"moved,omitempty" doc:"clean queries that stay right if gallery images are perturbed within the budget"`
}

// CertifyMoved is what is proven where images of the gallery move and the query does not.
type CertifyMoved struct {
	One       Value  `json:"one" doc:"share of all queries that no single perturbed image can break"`
	All       Value  `json:"all" doc:"share of all queries that all perturbed images together cannot break"`
	ProvenOne Packed `json:"proven_one" doc:"1 for each query that no single perturbed image can break, else 0, packed as 'items' are"`
	ProvenAll Packed `json:"proven_all" doc:"1 for each query that all perturbed images together cannot break, else 0"`
}

// CertifyAttacked counts the queries that were attacked too, at the budget of the attack.
type CertifyAttacked struct {
	Eps       float64 `json:"eps" doc:"budget of the attack"`
	Queries   int     `json:"queries" doc:"number of queries in both documents"`
	Certified int     `json:"certified" doc:"number of certified queries"`
	Broken    int     `json:"broken" doc:"number of queries that an attack broke"`
	Unknown   int     `json:"unknown" doc:"number of queries that are neither"`
}

func (Certify) kind() kind { return kind{schemas: []string{CertifySchema}, made: "certify"} }

// From is what was certified.
func (d Certify) From() Source { return d.Source }

// Covers says what there has and d, of the same weights and images, would not: budgets,
// queries, radii, settings; nil if nothing. The options of d are enough.
func (d Certify) Covers(there Certify) []string {
	o, was := d.Options, there.Options
	var out losses
	lost := lists.Filter(was.Eps, func(v float64) bool {
		return !slices.ContainsFunc(o.Eps, func(e float64) bool { return math.Abs(e-v) < 1e-9 })
	})
	shares := lists.Map(lost, func(v float64) string { return text.EpsExact(o.Norm, v) })
	out.add(lost != nil, "the shares at eps %s", strings.Join(shares, ", "))
	out.add(o.Queries > 0 && there.Queries > o.Queries, "%d queries instead of %d", there.Queries, o.Queries)
	out.add(was.Radii && !o.Radii, "the largest budget of each query")
	out.add(was.Moves && !o.Moves, "the certificates of the gallery")
	out.add(was.Samples > o.Samples && o.Samples > 0, "%d samples instead of %d", was.Samples, o.Samples)
	for _, s := range []struct{ flag, was, is string }{
		{"method", was.Method, o.Method}, {"gallery", cmp.Or(was.Gallery, "full"), cmp.Or(o.Gallery, "full")}, {"norm", was.Norm, o.Norm},
		{"sigma", fmt.Sprint(was.Sigma), fmt.Sprint(o.Sigma)}, {"alpha", fmt.Sprint(was.Alpha), fmt.Sprint(o.Alpha)},
		{"sample", fmt.Sprint(was.Sample), fmt.Sprint(o.Sample)}, {"seed", fmt.Sprint(was.Seed), fmt.Sprint(o.Seed)},
	} {
		out.add(s.was != s.is, "%s %s instead of %s", s.flag, s.was, s.is)
	}
	return out
}

// Holds reports whether d has all that o asks for, with the same values: its options are
// o, with smaller budgets, the largest budget of each query, or certificates of the gallery.
func (d Certify) Holds(o CertifyOptions) bool {
	had := d.Options
	if len(o.Eps) > 0 && len(had.Eps) > 0 && slices.Max(o.Eps) == slices.Max(had.Eps) { // that of the score
		widen(&o.Eps, had.Eps)
	}
	o.Radii, o.Moves = o.Radii || had.Radii, o.Moves || had.Moves
	return SameJSON(had, o)
}
