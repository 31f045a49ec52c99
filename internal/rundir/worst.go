package rundir

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"tercet/internal/attack/worst"
	"tercet/internal/engine/adversary"
	"tercet/internal/lists"
	"tercet/internal/record"
	"tercet/internal/stat"
	"tercet/internal/text"
)

// Keys of scores of worst.json and certify.json.
const (
	WorstCase   = record.WorstCase
	worstClean  = "worst:recall@1" // recall@1 of the queries of the worst case, as they are
	WorstRadius = "radius@1"       // mean over queries of the smallest perturbation that is known to break each
	WorstPlus   = "broken@1:plus"  // share of queries that only the attacks break which the suite plus adds
	Certified   = record.Certified
)

// KeysOf are the names of the scores of an extra kind of document.
func KeysOf(kind string) []string {
	if kind == "worst" {
		return []string{WorstCase, WorstCase + ":right", WorstCase + ":8bit", WorstRadius, WorstPlus, worstClean}
	}
	return []string{Certified}
}

// worstScores are those of worst.json, recall@1 as "worst:recall@1", since it is of its queries
// alone, the mean radius of each gallery, and what the suite plus adds.
func worstScores(r *Run) record.Scores {
	var out record.Scores
	at := func(key string) string {
		return strings.Replace(key, "@1", fmt.Sprintf("@%d", max(r.Worst.Options.K, 1)), 1)
	}
	for _, g := range r.Worst.Galleries {
		in := ""
		if g.Gallery != worst.Full {
			in = "(" + g.Gallery + ")"
		}
		for _, s := range g.Scores {
			if s.Key += in; strings.HasPrefix(s.Key, "recall@") {
				s.Key = "worst:" + s.Key
			}
			out = append(out, s)
		}
		if v, ok := meanRadius(r.Worst, g); ok {
			key := at(WorstRadius)
			out = append(out, record.Score{Key: key + in, Value: record.Value{Value: v, Definition: key + "(q)"}})
		}
		if r.Worst.Options.Version == worst.Plus && r.Worst.Queries > 0 && ByTodaysAttacks(r.Worst) {
			key, n := at(WorstPlus), r.Worst.Queries
			broken := brokenByPlus(g)
			ci := stat.Wilson(broken, n)
			out = append(out, record.Score{Key: key + in, Value: record.Value{Value: float64(broken) / float64(n), CI95: &ci, Definition: key + "(q)"}})
		}
	}
	if m := r.Worst.Moved; m != nil {
		out = append(out, m.Scores...)
	}
	return out
}

// brokenByPlus counts the queries that the attacks of the suite worst left unbroken and those
// that plus adds broke.
func brokenByPlus(g record.WorstGallery) int {
	n := 0
	for _, m := range worst.Members() {
		if !m.Plus {
			continue
		}
		for _, did := range g.Members {
			if did.Member == m.Name {
				n += did.Broken
			}
		}
	}
	return n
}

// ByTodaysAttacks reports whether d comes from the attacks that its options mean today, in
// their order. An older suite worst was weaker, an older suite plus had some of its attacks.
func ByTodaysAttacks(d *record.Worst) bool {
	plan := worst.Options{Version: d.Options.Version, Norm: adversary.Norm(d.Options.Norm), Eps: d.Options.Eps}
	if d.Options.Given != "" {
		plan.Given = &worst.Given{}
	}
	if d.Options.Transfer != nil {
		plan.Others = make([]worst.Other, len(d.Options.Transfer))
	}
	for at, g := range d.Galleries {
		names, err := worst.Planned(plan, at)
		if err != nil || !slices.EqualFunc(g.Members, names, func(m record.WorstMember, name string) bool { return m.Member == name }) {
			return false
		}
	}
	return true
}

// meanRadius is the mean over queries of the smallest perturbation known to break each, eps
// where there is none: the area under the curve of wcR@1 over the radius.
func meanRadius(d *record.Worst, g record.WorstGallery) (float64, bool) {
	list, err := g.Radius.Values(d.Queries)
	if err != nil || d.Queries == 0 {
		return 0, false
	}
	sum := 0.0
	for _, v := range list {
		sum += math.Min(float64(v), d.Options.Eps)
	}
	return sum / float64(d.Queries), true
}

// worstBudget says what the attacker could do and to how many images.
func worstBudget(d *record.Worst) string {
	o := d.Options
	out := fmt.Sprintf("%s eps %s, %s, %s", o.Norm, text.Eps(o.Norm, o.Eps), o.Version, text.Plural(d.Queries, "query", "queries"))
	if o.Sample && d.Queries < d.Source.Items {
		out += ", sampled"
	}
	if o.Given != "" {
		out += ", with given images"
	}
	return out + AttacksAge(d)
}

// AttacksAge is what is said after the name of d's suite where d comes from other attacks
// than the suite has today, else "".
func AttacksAge(d *record.Worst) string {
	if ByTodaysAttacks(d) {
		return ""
	}
	return ", by an older list of attacks"
}

// certifiedBudget says what is proven: the largest budget of the document, and how.
func certifiedBudget(d *record.Certify) string {
	o := d.Options
	out := o.Method
	if n := len(d.Points); n > 0 {
		out += fmt.Sprintf(", %s eps %s", o.Norm, text.Eps(o.Norm, d.Points[n-1].Eps))
	}
	if o.Sigma > 0 {
		out += fmt.Sprintf(", sigma %.4g, %d samples, alpha %.3g", o.Sigma, o.Samples, o.Alpha)
	}
	out += ", " + text.Plural(d.Queries, "query", "queries")
	if o.Sample && d.Queries < d.Source.Items {
		out += ", sampled"
	}
	return out
}

// budgets say of what the worst cases and certificates are whose scores are shown, where
// that is the same for all runs; what differs is said as other settings are.
func budgets(runs []*Run, scores []string) []string {
	var out []string
	for _, of := range []struct{ kind, says string }{{"worst", "worst case: "}, {"certify", "certificate: "}} {
		if !slices.ContainsFunc(scores, func(s string) bool { return KindOf(s, runs) == of.kind }) {
			continue
		}
		var notes []string
		for _, r := range runs {
			note := of.says
			switch {
			case !r.Has(of.kind):
				continue
			case of.kind == "worst":
				note += worstBudget(r.Worst)
			default:
				note += certifiedBudget(r.Certify)
			}
			notes = lists.AppendNew(notes, note)
		}
		if len(notes) == 1 {
			out = append(out, notes[0])
		}
	}
	return out
}

// masked repeats what worst.json warns of where its scores are shown: a worst case of
// masked gradients is no claim.
func masked(runs []*Run, scores []string) []string {
	if !slices.ContainsFunc(scores, func(s string) bool { return KindOf(s, runs) == "worst" }) {
		return nil
	}
	return repeated(runs, "not a robustness claim", func(r *Run) []string {
		if r.Worst == nil {
			return nil
		}
		return r.Worst.Warnings
	})
}
