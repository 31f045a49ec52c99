package rundir

import (
	"maps"
	"slices"

	"tercet/internal/lists"
	"tercet/internal/record"
)

// kind is a result document of runs.
type kind struct {
	name, command string                   // of the document; of what makes it
	extra         bool                     // that a run has none is no lack
	suite         string                   // that the command is given
	scores        func(*Run) record.Scores // of a run that has it
	setting       func(r *Run, key string) []Label
	document
}

// document is how the field of a run with such a document is read.
type document struct {
	from func(*Run) *record.Source // nil where the run has none
	read func(*Run) error
	drop func(*Run)
}

func documentIn[D result](name string, field func(*Run) **D) document {
	return document{
		from: func(r *Run) *record.Source {
			if d := *field(r); d != nil {
				from := (*d).From()
				return &from
			}
			return nil
		},
		read: func(r *Run) (err error) { *field(r), err = readResult[D](r, name); return err },
		drop: func(r *Run) { *field(r) = nil },
	}
}

// allKinds are the documents with the keys that a report uses: scores of eval.json
// by their own, those of its pairs as "pairs.accuracy"; those of attack.json too, other variants than the fixed one as
// "ES:R(published)", ERS of the images as they are as "clean:ERS" and
// "clean:ERS(published)"; those of cluster.json as "cluster:nmi"; those of worst.json in the
// whole gallery by their own, "wcR@1", in others as "wcR@1(prototype)", recall@1 of its queries
// as "worst:recall@1"; "certR@1".
var allKinds = []kind{
	{"eval", "eval", false, "", func(r *Run) record.Scores {
		return append(AllScores(r.Eval.Evaluated), renamed("pairs.", r.Eval.Pairs, "")...)
	}, func(r *Run, key string) []Label { return EvalSetting(r.Eval, key) }, documentIn("eval", func(r *Run) **record.Eval { return &r.Eval })},
	{"attack", "attack", false, "", func(r *Run) record.Scores {
		out := renamed("", r.Attack.Scores["fixed"], "")
		for _, v := range slices.Sorted(maps.Keys(r.Attack.Scores)) {
			if v != "fixed" {
				out = append(out, renamed("", r.Attack.Scores[v], "("+v+")")...)
			}
		}
		for _, v := range slices.Sorted(maps.Keys(r.Attack.Clean)) {
			if ers, ok := record.Scores(r.Attack.Clean[v]).Get("ERS"); ok {
				key := "clean:ERS"
				if v != "fixed" {
					key += "(" + v + ")"
				}
				out = append(out, record.Score{Key: key, Value: ers})
			}
		}
		return out
	}, func(r *Run, _ string) []Label { return attackSetting(r.Attack) }, documentIn("attack", func(r *Run) **record.Attack { return &r.Attack })},
	{"cluster", "cluster", false, "", func(r *Run) record.Scores {
		n := record.Value{Value: float64(r.Cluster.Clusters), Definition: "clusters"}
		return append(record.Scores{{Key: "cluster:clusters", Value: n}}, renamed("cluster:", r.Cluster.Clustering, "")...)
	}, func(r *Run, _ string) []Label { return clusterSetting(r.Cluster) }, documentIn("cluster", func(r *Run) **record.Cluster { return &r.Cluster })},
	{"worst", "attack", true, "worst", worstScores,
		func(r *Run, _ string) []Label {
			return []Label{imagesOf(r.Worst.Source), {"worst case", worstBudget(r.Worst)}}
		}, documentIn("worst", func(r *Run) **record.Worst { return &r.Worst })},
	{"certify", "certify", true, "", func(r *Run) record.Scores {
		proven, _ := r.Certify.Scores.Get(Certified)
		return record.Scores{{Key: Certified, Value: proven}}
	}, func(r *Run, _ string) []Label {
		return []Label{imagesOf(r.Certify.Source), {"certificate", certifiedBudget(r.Certify)}}
	}, documentIn("certify", func(r *Run) **record.Certify { return &r.Certify })},
}

func renamed(before string, s record.Scores, after string) record.Scores {
	var out record.Scores
	for _, sc := range s {
		out = append(out, record.Score{Key: before + sc.Key + after, Value: sc.Value})
	}
	return out
}

// Scores lists all scores of a run.
func (r *Run) Scores() record.Scores {
	var out record.Scores
	for _, k := range allKinds {
		if k.from(r) != nil {
			out = append(out, k.scores(r)...)
		}
	}
	return out
}

// Score is a run's score by the key that a report uses.
func (r *Run) Score(key string) (float64, bool) {
	v, ok := r.Scores().Get(key)
	return v.Value, ok
}

// Kinds are the names of the documents that have scores: eval, attack, cluster, worst and
// certify.
func Kinds() []string {
	return lists.Map(allKinds, func(k kind) string { return k.name })
}

// IsExtra says of a kind of document that a run without it lacks nothing.
func IsExtra(kind string) bool { return kindNamed(kind).extra }

// KindOf names the document that a score comes from; "" where no run has it.
func KindOf(key string, runs []*Run) string {
	for _, k := range allKinds {
		for _, r := range runs {
			if k.from(r) != nil {
				if _, ok := k.scores(r).Get(key); ok {
					return k.name
				}
			}
		}
	}
	return ""
}

func kindNamed(name string) kind {
	return allKinds[slices.IndexFunc(allKinds, func(k kind) bool { return k.name == name })]
}

// AllScores lists retrieval and clustering scores together.
func AllScores(j record.Evaluated) record.Scores {
	return slices.Concat(record.Scores(j.Retrieval), record.Scores(j.Clustering))
}
