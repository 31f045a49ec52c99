package summary

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tercet/internal/rundir"
	"tercet/internal/rundir/rundirtest"
)

// Scores of pairs are in the summary under the keys of tercet eval, and on the page
// with the threshold and the counts that they stand on.
func TestRunPageShowsPairs(t *testing.T) {
	t.Chdir(t.TempDir())
	with := func(at string) string {
		pairs := `"pairs": {"accuracy": {"value": 0.9375, "definition": "accuracy(pairs,within)"}, "auc": {"value": 0.75, "definition": "auc(pairs)"}},
 "pair_counts": {"same": 1900, "different": 18000, "eer_threshold": 0.8125` + at + `}, "warnings"`
		return strings.Replace(rundirtest.EvalFile(0.9, 0.4), `"warnings"`, pairs, 1)
	}
	const loss = `, "at_threshold": {"threshold": 0.70710678, "from": "loss", "accepted": 1500, "wrong": 321}`
	page := func(text string) string {
		dir := filepath.Join(t.TempDir(), "x")
		r := rundirtest.Fake(t, dir, 3, "finished", map[string]string{"eval.json": text})
		s := summarize(t, []*rundir.Run{r}, Options{})
		if err := RunPage(s, []*rundir.Run{r}, false).WriteMarkdown("report.md"); err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile("report.md")
		if err != nil {
			t.Fatal(err)
		}
		if v, ok := s.Runs[0].Scores["pairs.auc"]; ok != strings.Contains(text, "auc") || ok && v.Value != 0.75 {
			t.Errorf("the summary has %+v", s.Runs[0].Scores)
		}
		return string(b)
	}
	const want = `## Pairs classified by their distance

**1900 pairs of one class, 18000 of two**

| score | value |
|:--- | ---:|
| pairs.accuracy | 0.9375 |
| pairs.auc | 0.7500 |

called the same at distance tau = 0.7071 or less (that of the loss): 1500 pairs, of them 321 of two classes

auc and eer are of all thresholds; errors are equal at 0.8125
`
	if got := page(with(loss)); !strings.Contains(got, want) {
		t.Errorf("no\n%s\nin\n%s", want, got)
	}
	if got := page(with(strings.Replace(loss, "loss", "option", 1))); !strings.Contains(got, "0.7071 or less (given): 1500") {
		t.Error(got)
	}
	if got := page(with("")); strings.Contains(got, "called the same") || !strings.Contains(got, "pairs.auc") {
		t.Error(got)
	}
	if got := page(rundirtest.EvalFile(0.9, 0.4)); strings.Contains(got, "## Pairs") {
		t.Error(got)
	}
	r := rundirtest.Fake(t, "y", 3, "finished", map[string]string{"eval.json": with(loss)})
	if s := summarize(t, []*rundir.Run{r}, Options{Metrics: []string{"pairs.accuracy"}}); *s.Groups[0].Scores["pairs.accuracy"].Value != 0.9375 {
		t.Errorf("%+v", s.Groups[0].Scores)
	}
}
