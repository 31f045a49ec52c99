package report

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"tercet/internal/metric"
	"tercet/internal/record"
	"tercet/internal/render"
)

// resultKind is a result document of runs.
type resultKind struct {
	name, command string // of the document; of what makes it
	has           func(*RunDir) bool
	scores        func(*RunDir) metric.Scores // of a run that has it
	setting       func(r *RunDir, key string) []Label
}

// kinds are the documents with the keys that a report uses: scores of eval.json
// by their own, those of its pairs as "pairs.accuracy"; those of attack.json too, other variants than the fixed one as
// "ES:R(published)", ERS of the images as they are as "clean:ERS" and
// "clean:ERS(published)"; those of cluster.json as "cluster:nmi".
var kinds = []resultKind{
	{"eval", "eval", func(r *RunDir) bool { return r.Eval != nil }, func(r *RunDir) metric.Scores {
		return append(allScores(r.Eval.Evaluated), renamed("pairs.", r.Eval.Pairs, "")...)
	}, func(r *RunDir, key string) []Label { return evalSetting(r.Eval, key) }},
	{"attack", "attack", func(r *RunDir) bool { return r.Attack != nil }, func(r *RunDir) metric.Scores {
		out := renamed("", r.Attack.Scores["fixed"], "")
		for _, v := range slices.Sorted(maps.Keys(r.Attack.Scores)) {
			if v != "fixed" {
				out = append(out, renamed("", r.Attack.Scores[v], "("+v+")")...)
			}
		}
		for _, v := range slices.Sorted(maps.Keys(r.Attack.Clean)) {
			if ers, ok := metric.Scores(r.Attack.Clean[v]).Get("ERS"); ok {
				key := "clean:ERS"
				if v != "fixed" {
					key += "(" + v + ")"
				}
				out = append(out, metric.Score{Key: key, Value: ers})
			}
		}
		return out
	}, func(r *RunDir, _ string) []Label { return attackSetting(r.Attack) }},
	{"cluster", "cluster", func(r *RunDir) bool { return r.Cluster != nil }, func(r *RunDir) metric.Scores {
		n := metric.Value{Value: float64(r.Cluster.Clusters), Definition: "clusters"}
		return append(metric.Scores{{Key: "cluster:clusters", Value: n}}, renamed("cluster:", r.Cluster.Clustering, "")...)
	}, func(r *RunDir, _ string) []Label { return clusterSetting(r.Cluster) }},
}

func renamed(before string, s record.Scores, after string) metric.Scores {
	var out metric.Scores
	for _, sc := range s {
		out = append(out, metric.Score{Key: before + sc.Key + after, Value: sc.Value})
	}
	return out
}

// scores lists all scores of a run.
func (r *RunDir) scores() metric.Scores {
	var out metric.Scores
	for _, k := range kinds {
		if k.has(r) {
			out = append(out, k.scores(r)...)
		}
	}
	return out
}

// missing says which runs lack the document and what makes it; "" if none does. A
// run that collapsed or diverged has no weights to make it from.
func (k resultKind) missing(runs []*RunDir) string {
	var dirs, without []string
	for _, r := range runs {
		switch {
		case k.has(r) || r.lost() || r.leaves(k):
		case r.Of.Split == "validation" && r.Manifest.Data.Validation == nil:
			without = append(without, r.Dir)
		default:
			dirs = append(dirs, r.Dir)
		}
	}
	switch {
	case dirs == nil && without == nil:
		return ""
	case dirs == nil:
		return fmt.Sprintf("no validation images in %s; data.split.validation holds some out, in a new training", render.Listed(without))
	}
	of := runs[0].Of
	return fmt.Sprintf("no %s in %s; tercet %s --run %s%s makes it", of.document("", k.name), render.Listed(dirs), k.command, word(dirs[0]), of.flags())
}

// leaves says that the run has such a document, which is left out with a note.
func (r *RunDir) leaves(k resultKind) bool {
	return slices.ContainsFunc(r.Left, func(note string) bool { return strings.HasPrefix(note, k.path(r)+" ") })
}

// path is where the run has the document.
func (k resultKind) path(r *RunDir) string {
	if k.name == "cluster" && r.clusterFile != "" {
		return r.clusterFile
	}
	return r.Of.document(r.Dir, k.name)
}

// kindOf returns the document that a score comes from.
func kindOf(key string, runs []*RunDir) resultKind {
	for _, k := range kinds {
		for _, r := range runs {
			if k.has(r) {
				if _, ok := k.scores(r).Get(key); ok {
					return k
				}
			}
		}
	}
	return resultKind{}
}
