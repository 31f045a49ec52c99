package study

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tercet/internal/rundir"
	"tercet/internal/study/observe"
	"tercet/internal/verdict"
)

// t(0.975, 2) = 4.302652729911275; the deviation of 0.1, 0.2, 0.3 is 0.1.
const halfOfTenth = 4.302652729911275 * 0.1 / 1.7320508075688772

func meanIs(t *testing.T, what string, e Estimate, value, half float64, n int) {
	t.Helper()
	if math.Abs(e.Value-value) > 1e-12 || e.N != n {
		t.Errorf("%s: %+v, want %v of %d", what, e, value, n)
		return
	}
	if e.CI95 == nil || math.Abs(e.CI95[0]-(value-half)) > 1e-9 || math.Abs(e.CI95[1]-(value+half)) > 1e-9 {
		t.Errorf("%s: interval %v, want %v +- %v", what, e.CI95, value, half)
	}
}

func compare(t *testing.T, table string, runs []*rundir.Run) *Document {
	t.Helper()
	d, err := tableNamed(t, table).Compare(runs)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// find is the row with those texts at sources.
func find(t *testing.T, d *Document, want ...string) *Row {
	t.Helper()
	for _, row := range d.Rows {
		all := true
		for _, w := range want {
			source, v, _ := strings.Cut(w, "=")
			all = all && row.text(source) == v
		}
		if all {
			return row
		}
	}
	t.Fatalf("no row with %q", want)
	return nil
}

// Means and their intervals by hand; differences seed by seed, and over all rates.
func TestMeansAndDifferences(t *testing.T) {
	t.Chdir(t.TempDir())
	d := compare(t, "clustering-differences", clusterWorld(t))
	row := find(t, d, "method=kmeans", "noise=0.3", "loss=L3")
	meanIs(t, "nmi of L3 by k-means at 0.3", row.Scores["nmi"], 0.65, 2*halfOfTenth, 3)
	meanIs(t, "its clusters", row.Scores["clusters"], 11, 10*halfOfTenth, 3)
	if _, ok := row.Scores["threshold"]; ok {
		t.Error("k-means has a threshold")
	}
	if len(d.Contrasts) != (3+2+1)*4 {
		t.Errorf("%d contrasts", len(d.Contrasts))
	}
	for _, want := range []struct {
		what, where, noise string
		value, half        float64
	}{
		{"L3 - L1", "kmeans", "0", 0.2, halfOfTenth}, {"L3 - L1", "kmeans", "0.3", 0.4, 2 * halfOfTenth},
		{"L3 - L1", "kmeans", "> 0", 0.3, 1.5 * halfOfTenth}, // of 0.15, 0.3, 0.45
		{"L3 - L1", "multicut-margins, L1 multicut-fit", "0.2", 0.2, halfOfTenth},
		{"multicut-margins - kmeans", "L3", "0.3", 0.125, 0}, {"multicut-fit - kmeans", "L3", "0", -0.325, halfOfTenth},
	} {
		found := false
		for _, c := range d.Contrasts {
			if c.Name == want.what && c.Where == want.where && c.Fields["noise"] == want.noise {
				found = true
				meanIs(t, want.what+" "+want.where+" "+want.noise, c.Scores["nmi"], want.value, want.half, 3)
			}
		}
		if !found {
			t.Errorf("no difference %s, %s at noise %s", want.what, want.where, want.noise)
		}
	}
}

// A seed that one side lacks does not count for a difference; one that lacks a rate does
// not count for that over all rates.
func TestDifferencesPairSeeds(t *testing.T) {
	t.Chdir(t.TempDir())
	d := compare(t, "clustering-differences", clusterWorld(t)[1:]) // without L3, seed 0, noise 0.3
	for _, c := range d.Contrasts {
		if c.Name == "L3 - L1" && c.Where == "kmeans" {
			want := map[string]int{"0": 3, "0.2": 3, "0.3": 2, "> 0": 2}[c.Fields["noise"]]
			if c.N != want {
				t.Errorf("noise %s: %d seeds, want %d", c.Fields["noise"], c.N, want)
			}
		}
	}
}

// The robust loss has a lower triplet error by 0.1, 0.2 and 0.3: not by its interval; its
// NMI is lower by 0.25.
func TestAgainstTheBaseline(t *testing.T) {
	t.Chdir(t.TempDir())
	d := compare(t, "noise-robust", robustWorld(t))
	row := find(t, d, "noise=sln", "name=robust, expected, joint")
	meanIs(t, "difference of triplet errors", row.Differences["triplet_error"], -0.2, halfOfTenth, 3)
	meanIs(t, "difference of nmi", row.Differences["nmi"], -0.25, 0, 3)
	if row.Verdicts["triplet_error"] != verdict.Inconclusive || row.Verdicts["nmi"] != verdict.Contradicted || row.Against != "mnist, sln, 0.3, triplet, margin 0.2" {
		t.Errorf("%q against %q", row.Verdicts, row.Against)
	}
	found := find(t, d, "noise=sln", "name=robust, expected, joint, found")
	if found.N != 3 || found.Verdicts["triplet_error"] != verdict.Supported {
		t.Errorf("%d runs, %q: an error that is lower is better", found.N, found.Verdicts)
	}
	if find(t, d, "noise=none").Verdicts != nil {
		t.Error("the baseline is compared")
	}
	twice := append(d.Rows[:len(d.Rows):len(d.Rows)], find(t, d, "noise=sln", "name=triplet, margin 0.2"))
	if notes := d.table.compareAgainst(twice); len(notes) == 0 || !strings.Contains(notes[0], "would both do") {
		t.Errorf("two baselines: %q", notes)
	}
}

// Notes say which runs do not count, and what makes numbers less than they seem.
func TestNotes(t *testing.T) {
	t.Chdir(t.TempDir())
	runs := robustWorld(t)
	runs[0].Manifest.Status, runs[0].Manifest.Of = "collapsed", 200
	runs[1].Eval = nil
	runs[2].Manifest.Version = "v2"
	runs[3].Manifest.Data.Test.Items = 400
	put(t, runs[4].Dir, "eval.json", `{"schema": "tercet.eval/1", "source": {"checkpoint": "last", "step": 100, "set": "train", "items": 200}, "retrieval": {"recall@1": {"value": 1}}}`)
	runs[4] = read(t, runs[4].Dir, runs[4].Labels...)
	d := compare(t, "noise-robust", runs)
	notes := strings.Join(d.Notes, "\n")
	for _, want := range []string{
		runs[0].Dir + ": collapsed at step 100 of 200; it does not count", "no eval.json in " + runs[1].Dir + "; tercet eval", "made by different versions: v1 (",
		runs[3].Dir + "/eval.json is of 200 of the 400 test images", "eval.json is of the train images, checkpoint last, not of the test images, checkpoint last: left out",
	} {
		if !strings.Contains(notes, want) {
			t.Errorf("no %q in\n%s", want, notes)
		}
	}
	if got := find(t, d, "noise=sln", "name=robust, expected, product").Caution; !strings.HasSuffix(got, "200 of 400 test images") {
		t.Errorf("the row says %q", got)
	}
	if _, err := tableNamed(t, "noise-robust").Compare(append(runs, runs[5])); err == nil || !strings.Contains(err.Error(), "one setting with one seed, 0: name one of them") {
		t.Errorf("one run twice: %v", err)
	}
}

// Runs that are not measured in the same way have no mean and no difference.
func TestUnlikeRuns(t *testing.T) {
	t.Chdir(t.TempDir())
	runs := clusterWorld(t)
	file := filepath.Join(runs[0].Dir, "cluster-kmeans", "cluster.json")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	put(t, ".", file, strings.Replace(string(text), `"method": "kmeans"`, `"method": "kmeans", "n_init": 3`, 1))
	d := compare(t, "clustering-differences", runs)
	if row := find(t, d, "method=kmeans", "noise=0.3", "loss=L3"); len(row.Scores) != 0 {
		t.Errorf("scores %v", row.Scores)
	}
	if !strings.Contains(strings.Join(d.Notes, "\n"), "since its runs are not measured in the same way: starts") && !strings.Contains(strings.Join(d.Notes, "\n"), "not measured in the same way: n_init") {
		t.Errorf("notes %q", d.Notes)
	}
}

// Results that cannot be read are errors of data, and no runs make an empty table.
func TestBrokenResults(t *testing.T) {
	t.Chdir(t.TempDir())
	runs := clusterWorld(t)[:1]
	put(t, runs[0].Dir, "cluster-kmeans/cluster.json", "{")
	if _, err := tableNamed(t, "clustering").Compare(runs); !errors.Is(err, rundir.ErrRun) || !strings.Contains(err.Error(), "cluster-kmeans") {
		t.Errorf("%v", err)
	}
	for _, s := range specs(t) {
		for i := range s.Tables {
			d, err := s.Tables[i].Compare(nil)
			if s.Tables[i].Observe.Needed {
				if !errors.Is(err, rundir.ErrRun) {
					t.Errorf("%s of no runs: %v", s.Tables[i].Name, err)
				}
				continue
			}
			if err != nil || write(t, d, "csv") == "" {
				t.Errorf("%s of no runs: %v", s.Tables[i].Name, err)
			}
		}
	}
}

// What a spec says wrongly is refused before runs are read, with the place.
func TestSpecErrors(t *testing.T) {
	const head = "title: x\ntables:\n  - name: a\n    fields: [{name: data, from: manifest.data.name}]\n    scores: [{name: e, from: pairs.json#train.error}]\n"
	const tail = "    rows: [data]\n    columns: [data, e]\n"
	if _, err := Read([]byte(head+tail), "x.yaml", "x"); err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		"titel: x\n": "x.yaml:1", "tables: []\n": "title",
		strings.Replace(head, "manifest.data.name", "manifst.data.name", 1) + tail:                   "field data: \"manifst.data.name\" is neither",
		strings.Replace(head, "pairs.json", "pears.json", 1) + tail:                                  "unknown document \"pears.json\"",
		head + "    rows: [date]\n    columns: [data]\n":                                             "unknown field \"date\"",
		head + "    rows: [data]\n    columns: [data, f]\n":                                          "column \"f\" shows nothing",
		head + "    rows: [data]\n    columns: [e as eror]\n":                                        "unknown format \"eror\"",
		head + "    rows: [data]\n    columns: [e is above]\n":                                       "the rule is \"above\"",
		head + "    rows: [data]\n    columns: [e is within 0 of 1]\n":                               "margin is a number above 0",
		head + tail + "    show: lines\n":                                                            "show is \"lines\"",
		head + tail + "    observe: {status: done}\n":                                                "observe.status is \"done\"",
		head + tail + "    observe: {results: [evil]}\n":                                             "unknown result \"evil\"",
		head + tail + "    reduce: {by: pique}\n":                                                    "reduce.by: unknown value \"pique\"",
		head + tail + "    best: {by: f}\n":                                                          "best.by: unknown score \"f\"",
		head + tail + "    best: {by: e, same: [f]}\n":                                               "best.same: unknown field \"f\"",
		head + tail + "    claims: [{id: c, each: row, quantities: [{by: difference, score: e}]}]\n": "claim c: a difference needs",
		head + tail + "    claims: [{id: c, each: curve, quantities: []}]\n":                         "claim c: curves, streams and lines need reduce",
		head + tail + "    from: b\n":                                                                "names no table above it",
		head + tail + "  - name: a\n    rows: [data]\n    columns: [data]\n":                         "two tables a",
		head + tail + "    plot: {picture: [data], x: n, y: [{score: e}]}\n":                         "unknown field \"n\"",
		head + tail + "    plot: {picture: [data], x: data, y: [{score: f}]}\n":                      "unknown score \"f\"",
		head + tail + "    plot: {picture: [data], x: data, y: [{score: e}], differences: true}\n":   "differences need against",
		strings.Replace(head, "{name: e, from", "{name: e, fro", 1) + tail:                           "x.yaml:5",
		strings.Replace(head, "from: manifest.data.name", "cases: [{as: \"{b\"}]", 1):                "after { comes",
	} {
		if _, err := Read([]byte(text), "x.yaml", "x"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s\nerror %v, want %q", text, err, want)
		}
	}
}

// A user's own study: rows by a config key, a score by a path.
func TestOwnSpec(t *testing.T) {
	t.Chdir(t.TempDir())
	s, err := Read([]byte(`
title: margins
tables:
  - name: margins
    title: recall by margin
    observe: {status: finished, results: [eval]}
    fields: [{name: margin, from: config.loss.margin, number: true}, {name: noise, from: manifest.data.noise.kind}]
    scores: [{name: recall, from: eval.json#retrieval.recall@1.value, range: [0, 1]}, {name: half, from: recall - score.nmi}]
    rows: [noise, margin]
    columns: [noise, margin as number, n, recall as score, half as .2 mean, good = recall is above 0.78]
`), "margins.yaml", "margins")
	if err != nil {
		t.Fatal(err)
	}
	runs := robustWorld(t)
	d, err := s.Table("margins").Compare(runs[:1:1])
	if err != nil {
		t.Fatal(err)
	}
	if got, want := write(t, d, "csv"), "noise,margin,n,recall,half,good\nsln,0.2,1,0.8,0.30000000000000004,inconclusive\n"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	put(t, runs[0].Dir, "eval.json", `{"schema": "tercet.eval/1", "retrieval": {"recall@1": {"value": 1.5}}}`)
	if _, err := s.Table("margins").Compare(runs[:1]); !errors.Is(err, rundir.ErrRun) || !strings.Contains(err.Error(), "recall is 1.5, which is not between 0 and 1") {
		t.Errorf("%v", err)
	}
}

func TestWhere(t *testing.T) {
	text := func(source string) string {
		return map[string]string{"a": "x", "n": "0.10", "q": `"found"`}[source]
	}
	for _, c := range []struct {
		where observe.Where
		want  bool
	}{
		{nil, true}, {observe.Where{"a": "x"}, true}, {observe.Where{"a": "y"}, false}, {observe.Where{"a": []any{"y", "x"}}, true}, {observe.Where{"a": "!x"}, false}, {observe.Where{"a": "!y"}, true},
		{observe.Where{"a": []any{"!y", "!z"}}, true}, {observe.Where{"a": []any{"!y", "!x"}}, false}, {observe.Where{"n": 0.1}, true}, {observe.Where{"n": "<number>"}, true}, {observe.Where{"a": "<number>"}, false},
		{observe.Where{"none": ""}, true}, {observe.Where{"none": "!"}, false}, {observe.Where{"q": "found"}, true}, {observe.Where{"a": "x", "n": 2}, false},
	} {
		if got := c.where.Fits(text); got != c.want {
			t.Errorf("%v: %v", c.where, got)
		}
	}
	if got := observe.Fill("{a|upper} {n|percent}, {b}.", text); got != "X 10 %, ." {
		t.Errorf("%q", got)
	}
}

// The pictures have a line for each series and a panel for each method.
func TestPictures(t *testing.T) {
	t.Chdir(t.TempDir())
	for table, want := range map[string][]string{
		"clustering": {"L1", "L3", "kmeans", "multicut-margins", "nmi (%)", "clusters", "label noise"},
	} {
		d := compare(t, table, clusterWorld(t))
		files, err := d.Draw("c.png")
		if err != nil || fmt.Sprint(files) != "[c-mnist.png]" {
			t.Fatal(files, err)
		}
		svg, err := os.ReadFile("c-mnist.svg")
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range want {
			if !strings.Contains(string(svg), ">"+w+"<") {
				t.Errorf("%s: no %q in the picture", table, w)
			}
		}
	}
}

// The quantities of claims by hand: differences of curves whose seeds differ alike have the
// interval of what a curve adds to them.
func TestClaims(t *testing.T) {
	t.Chdir(t.TempDir())
	d := compare(t, "pair-claims", widthWorld(t))
	const apart = 0.1 * halfOfTenth // of three seeds that are 0.01 apart
	for _, want := range []struct {
		claim, of, what string
		value, half     float64
		rule, verdict   string
	}{
		{"C1", "s2, PLN 10 %", "rise to the peak at width 16", 0.06, 0, "interval above 0", verdict.Supported},
		// Peaks: clean 0.22 at width 8, PLN 0.34 at 16 and 0.33 at 8.
		{"C2", "s2, PLN 10 %", "peak's test error, less", 0.12, apart, "interval above 0", verdict.Supported},
		{"C2", "s2, PLN 10 %", "the same, both at the clean curve's peak", 0.11, apart, "", ""},
		{"C3", "s1, no noise", "training error at width 32", 0.01, 0, "interval below 0.1 %", verdict.Contradicted},
		{"C4", "s1, PLN - SLN, 10 %", "test error at width 32", 0, apart / 10, "interval within 2 % of 0 %", verdict.Supported},
		{"C4", "s2, PLN - SLN, 10 %", "difference of each seed's own peaks", 1, 0, "interval above 0", verdict.Supported},
		// SLN - PLN at widths 4, 8, 16: 0.03, 0.04, -0.04 in S2.
		{"C5", "s2, SLN - PLN, 10 %", "test error, mean over widths 4 to 16 (3)", 0.01, apart, "interval above 0", verdict.Inconclusive},
		{"C6", "s2, PLN 20 % - 10 %", "test error, mean over 5 widths", 0.108, 0, "", ""},
	} {
		q := quantity(t, d, want.claim, want.of, want.what)
		meanIs(t, want.claim+" "+want.of, q.Estimate, want.value, want.half, 3)
		if q.Rule != want.rule || q.Verdict != want.verdict {
			t.Errorf("%s %s %s: %q %q", want.claim, want.of, want.what, q.Rule, q.Verdict)
		}
	}
	for claim, want := range map[string]string{"C1": verdict.Contradicted, "C2": verdict.Supported, "C3": verdict.Contradicted, "C4": verdict.Supported, "C5": verdict.Inconclusive, "C6": verdict.Contradicted} {
		if q := quantity(t, d, claim, "", "all "); q.Verdict != want {
			t.Errorf("%s in all: %s %s, want %s", claim, q.What, q.Verdict, want)
		}
	}
	if !strings.Contains(strings.Join(d.Notes, "\n"), "no runs for C7, C8, C9") {
		t.Errorf("notes %q", d.Notes)
	}
}

// quantity finds the one that begins so.
func quantity(t *testing.T, d *Document, claim, of, what string) Quantity {
	t.Helper()
	for _, q := range d.Claims {
		if q.Claim == claim && q.Of == of && strings.HasPrefix(q.What, what) {
			return q
		}
	}
	t.Fatalf("no %s %q %q", claim, of, what)
	return Quantity{}
}

// One seed has no interval, and no verdict but inconclusive comes of it.
func TestClaimsOfOneSeed(t *testing.T) {
	t.Chdir(t.TempDir())
	var runs []*rundir.Run
	for _, r := range append(widthWorld(t), streamWorld(t)...) {
		if r.Manifest.Seed == 1 {
			runs = append(runs, r)
		}
	}
	d := compare(t, "pair-claims", runs)
	for _, q := range d.Claims {
		if q.Verdict != "" && q.Verdict != verdict.Inconclusive {
			t.Errorf("%s %s %s: %s", q.Claim, q.Of, q.What, q.Verdict)
		}
	}
	if len(d.Claims) < 30 {
		t.Errorf("%d claims", len(d.Claims))
	}
}

// Every claim of the built-in studies can be supported and contradicted.
func TestClaimsCanFail(t *testing.T) {
	n := 0
	for _, s := range specs(t) {
		for _, table := range s.Tables {
			for _, c := range table.Claims {
				for _, q := range c.Quantities {
					for _, r := range q.Rules {
						text := func(source string) string {
							return map[string]string{"wanted": "0.1", "draws": "0.03", "tenth": "0.003"}[source]
						}
						claim, ok := (&Row{}).rule(observe.Fill(r.Rule, text))
						got := map[string]bool{}
						for _, at := range []float64{-100, 0, 0.03, 0.05, 1, 100} {
							got[claim.Of(&[2]float64{at, at + 1e-9})] = true
						}
						if n++; !ok || !got[verdict.Supported] || !got[verdict.Contradicted] {
							t.Errorf("%s %s %s: %q gives %v", table.Name, c.ID, q.What, r.Rule, got)
						}
					}
				}
			}
		}
	}
	if n < 20 {
		t.Errorf("only %d rules", n)
	}
}

// A peak in the middle, at the ends, and none; each seed at the places of the others.
func TestFindPeak(t *testing.T) {
	flat := func(v ...float64) [][]float64 {
		out := make([][]float64, len(v))
		for i, x := range v {
			out[i] = []float64{x, x + 0.5, x + 1}
		}
		return out
	}
	before, top, after, rise, fall := findPeak(flat(3, 1, 5, 4, 2), largest)
	if before != 1 || top != 2 || after != 4 || rise.Value != 4 || fall.Value != 3 || rise.CI95[0] != 4 {
		t.Errorf("%d %d %d %v %v", before, top, after, rise, fall)
	}
	if _, top, after, rise, fall := findPeak(flat(1, 2, 3), largest); top != 2 || after != -1 || fall != nil || rise.Value != 2 {
		t.Errorf("at the end: %d %d", top, after)
	}
	if _, top, _, _, _ := findPeak(flat(5, 3, 1), prominent); top != -1 {
		t.Errorf("what only falls has a prominent peak at %d", top)
	}
	if before, top, after, _, _ := findPeak(flat(9, 1, 4, 2, 3), prominent); before != 1 || top != 2 || after != 3 {
		t.Errorf("prominent: %d %d %d", before, top, after)
	}
	// Two seeds with peaks at different places: by the other's place neither stands out.
	noise := [][]float64{{0, 0}, {1, 0}, {0, 1}, {0, 0}}
	if _, _, _, rise, _ := findPeak(noise, largest); rise.Value != 0 {
		t.Errorf("noise rises by %v", rise.Value)
	}
	of := func(n int) string {
		return peakVerdict(&Estimate{CI95: &[2]float64{1, 2}, N: n}, &Estimate{CI95: &[2]float64{-2, -1}, N: n})
	}
	if of(3) != verdict.Contradicted || of(2) != verdict.Inconclusive {
		t.Errorf("a side that falls: %s with three seeds, %s with two", of(3), of(2))
	}
}

func TestRules(t *testing.T) {
	for text, want := range map[string]string{"above 0": "interval above 0", "below 0.001": "interval below 0.1 %", "within 0.02 of 0": "interval within 2 % of 0 %", "at least 0.5": "interval at least 50 %"} {
		r, err := parseRule(text, nil)
		if err != nil || r.words(false) != want {
			t.Errorf("%s: %q %v", text, r.words(false), err)
		}
	}
	for _, text := range []string{"", "over 1", "within 1", "within -1 of 0", "at most e", "above"} {
		if _, err := parseRule(text, nil); err == nil {
			t.Errorf("%q is a rule", text)
		}
	}
	if _, err := parseRule("at most e", []string{"e"}); err != nil {
		t.Error(err)
	}
}

// Evaluations are read by ascending step; one that was done again counts as it was last.
func TestReadCurve(t *testing.T) {
	t.Chdir(t.TempDir())
	events := map[string]string{"test": "pair_accuracy", "train": "pair_train_accuracy"}
	lines := []string{`{"event":"step","step":1,"loss":1}`, evaluated(10, 1, 0.5, 0.25), evaluated(20, 2, 0.375, 0.125), evaluated(10, 1, 0.25, 0.25),
		`{"event":"eval","step":30,"epoch":3,"metrics":{"pair_train_accuracy":0.75}}`, `{"event":"eval","step":40,"metrics":{"pair_acc`}
	put(t, ".", "e.jsonl", strings.Join(lines, "\n"))
	got, err := observe.ReadCurve("e.jsonl", events)
	if want := "[{10 1 map[test:0.25 train:0.25]} {20 2 map[test:0.375 train:0.125]} {30 3 map[train:0.25]}]"; err != nil || fmt.Sprint(got) != want {
		t.Errorf("%v %v, want %v", got, err, want)
	}
	put(t, ".", "e.jsonl", lines[5]+"\n"+lines[1])
	if _, err := observe.ReadCurve("e.jsonl", events); !errors.Is(err, rundir.ErrRun) || !strings.Contains(err.Error(), "e.jsonl:1") {
		t.Errorf("a broken line in the middle: %v", err)
	}
	if got, err := observe.ReadCurve("none", events); got != nil || err != nil {
		t.Errorf("no file: %v %v", got, err)
	}
}

// Files of runs on pairs that cannot be used are errors that name them.
func TestBrokenPairs(t *testing.T) {
	t.Chdir(t.TempDir())
	r := fakePairs{scenario: "s1", noise: "none", classes: 3, width: 4, train: 0.1, test: 0.2}.make(t)
	for text, want := range map[string]string{
		"{": "pairs.json:1", `{"schema": "tercet.pairs/9"}`: "tercet.pairs/9", `{"schema": "tercet.pairs/1"}`: "has no pairs.json: train.error",
		`{"schema": "tercet.pairs/1", "train": {"pairs": 4, "error": 2}}`: "train_error is 2, which is not between 0 and 1",
	} {
		put(t, r.Dir, "pairs.json", text)
		if _, err := tableNamed(t, "pairs").Compare([]*rundir.Run{r}); !errors.Is(err, rundir.ErrRun) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
	bad := floorWorld(t)
	for text, want := range map[string]string{
		`"classes": 2, "per_class": 7, "p": 0.1, "pairs": 6000, "errors": [1]`: "is of 2 classes of 7 images", `"pairs": 10, "errors": [11]`: "11 wrong of 10 pairs", `"pairs": 0, "errors": []`: "0 draws of 0 pairs",
	} {
		put(t, bad[0].Dir, "partition.json", `{"schema": "tercet.partition/1", "negatives": "same-index", `+text+"}")
		if _, err := tableNamed(t, "pair-floor").Compare(bad); !errors.Is(err, rundir.ErrRun) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
	tasks, others, err := PartitionTasks(tableNamed(t, "pairs"), bad[1:])
	if err != nil || len(tasks) != 6 || len(others) == 0 || tasks[0].PerClass == 0 || tasks[0].StoredIn(tasks[0].Dirs[0]) != nil {
		t.Errorf("%d tasks, %d others, %v", len(tasks), len(others), err)
	}
}

// Dots are sorted by the difference of the first score; a score without one leaves a gap.
func TestDots(t *testing.T) {
	t.Parallel()
	row := func(loss string, first, second float64) *Row {
		r := &Row{Fields: map[string]string{"data": "x", "loss": loss}, Differences: map[string]Estimate{"a": {Value: first, N: 3, CI95: &[2]float64{first - 1, first + 1}}}}
		if second != 0 {
			r.Differences["b"] = Estimate{Value: second, N: 3}
		}
		return r
	}
	p := Plot{X: "loss", Y: []Line{{Score: "a"}, {Score: "b", Label: "B"}}}
	c := p.dots([]*Row{row("low", -2, 5), row("high", 3, 1), row("middle", 0.5, 0)})
	if !slices.Equal(c.Names, []string{"high", "middle", "low"}) || len(c.Panels) != 2 || c.Panels[1].Title != "B" {
		t.Fatalf("%+v", c)
	}
	if b := c.Panels[0].Values[2]; b.Value != -2 || b.Low != -3 || b.High != -1 {
		t.Errorf("%+v", b)
	}
	if b := c.Panels[1].Values; b[0].Value != 1 || !math.IsNaN(b[1].Value) || b[2].Value != 5 {
		t.Errorf("%+v", b)
	}
}
