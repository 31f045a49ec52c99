package summary

import (
	"strings"
	"testing"

	"tercet/internal/rundir"
	"tercet/internal/rundir/rundirtest"
)

// evalWith is an eval.json of the given options.
func evalWith(recall float64, options string) string {
	return strings.Replace(rundirtest.EvalFile(recall, 0), `"retrieval": {"recall@1": {"value": 0.`, `"options": {`+options+`}, "retrieval": {"recall@1": {"value": 0.`, 1)
}

// Values that were measured unlike have no mean, whatever the option is.
func TestUnlikeValuesHaveNoMean(t *testing.T) {
	usual := evalWith(0.5, `"distance": "euclidean", "k": 0, "n_init": 10`)
	for _, tc := range []struct {
		name, file, other string
		gone, kept, note  string
	}{
		{"distance", "eval.json", evalWith(0.25, `"distance": "cosine", "k": 0, "n_init": 10`), "recall@1", "nmi", "distance euclidean (a), cosine (b)"},
		{"clusters", "eval.json", evalWith(0.25, `"distance": "euclidean", "k": 3, "n_init": 10`), "nmi", "recall@1", "number of clusters that of classes (a), 3 (b)"},
		{"starts", "eval.json", evalWith(0.25, `"distance": "euclidean", "k": 10, "n_init": 2`), "nmi", "recall@1", "starts of k-means 10 (a), 2 (b)"},
		{"images", "eval.json", rundirtest.Replaced(usual, `"items": 200`, `"items": 20`, "sha256:bb", "sha256:cc"), "recall@1", "", "images 200 with fingerprint bb (a), 20 with fingerprint cc (b)"},
		{"budget", "attack.json", rundirtest.Replaced(rundirtest.AttackFile, `"eps": 0.25`, `"eps": 0.5`), "ES:R", "recall@1", "attack linf eps 0.25, "},
		{"method", "cluster.json", rundirtest.Replaced(rundirtest.ClusterFile, `"kmeans"`, `"hdbscan"`), "cluster:nmi", "recall@1", "method kmeans (a), hdbscan (b)"},
		{"k", "cluster.json", rundirtest.Replaced(rundirtest.ClusterFile, `"method": "kmeans"`, `"method": "kmeans", "k": 10`), "cluster:nmi", "recall@1", "number of clusters that of classes (a), 10 (b)"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Chdir(t.TempDir())
			files := map[string]string{"eval.json": usual, "attack.json": rundirtest.AttackFile, "cluster.json": rundirtest.ClusterFile}
			a := rundirtest.Fake(t, "a", 0, "finished", files)
			files[tc.file] = tc.other
			s := summarize(t, []*rundir.Run{a, rundirtest.Fake(t, "b", 1, "finished", files)}, Options{Metrics: []string{"recall@1", "nmi", "ES:R", "cluster:nmi"}})
			g := s.Groups[0]
			if e, ok := g.Scores[tc.gone]; ok || g.LeftOut[tc.gone] == "" {
				t.Errorf("%s has the mean %+v", tc.gone, e)
			}
			if e := g.Scores[tc.kept]; tc.kept != "" && e.N != 2 {
				t.Errorf("%s is measured alike and has %+v", tc.kept, e)
			}
			notes := strings.Join(s.Notes, "\n")
			if !strings.Contains(notes, "since its runs are not measured in the same way: ") || !strings.Contains(notes, tc.note) {
				t.Errorf("no note with %q in\n%s", tc.note, notes)
			}
		})
	}
}
