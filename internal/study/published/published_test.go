package published

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tercet/internal/record"
	"tercet/internal/render"
	"tercet/internal/rundir"
	"tercet/internal/rundir/rundirtest"
	"tercet/internal/study"
	"tercet/internal/study/observe"
	"tercet/internal/testutil"
)

// hardness is a table of two rows and one that no paper has, in four columns.
func hardness(t *testing.T) *Table {
	t.Helper()
	table := &Table{
		Name: "hardness", Title: "Hardness", Source: "A and B, 2022", Setup: "CUB",
		Columns: []string{"R@1", "TMA", "ES:D", "ERS"},
		Rows: []Row{
			{Label: "HM[S,g]", Data: "CUB", Eta: 8, Paper: []any{53.9, 0.567, 0.783, 32}, Match: observe.Where{
				"defense.name": "hm", "defense.destination.u": []any{nil, 0.2}, "defense.pgd.steps": 8}},
			{Label: "HM[S,0]", Data: "CUB", Eta: 8, Paper: "collapse", Match: observe.Where{
				"defense.name": "hm", "defense.destination.u": 2.2, "defense.pgd.steps": 8}},
			{Label: "N/A", Match: observe.Where{"defense.name": "none", "name": "small-*"}},
		},
	}
	if err := table.check(); err != nil {
		t.Fatal(err)
	}
	return table
}

// run is a run of hardness with recall, TMA, ES:D and ERS.
func paperRun(dir, defense, u string, seed uint64, recall float64) *rundir.Run {
	r := &rundir.Run{Dir: dir, Manifest: record.Manifest{Status: "finished", Seed: seed}, Labels: []rundir.Label{
		{Key: "name", Value: dir}, {Key: "seed", Value: fmt.Sprint(seed)}, {Key: "defense.name", Value: defense}, {Key: "defense.destination.u", Value: u}, {Key: "defense.pgd.steps", Value: "8"}}}
	r.Manifest.Data.Name = "mnist"
	score := func(key string, v float64) record.Score {
		return record.Score{Key: key, Value: record.Value{Value: v, CI95: &[2]float64{v - 0.125, v + 0.125}}}
	}
	r.Eval = &record.Eval{Evaluated: record.Evaluated{Retrieval: record.Scores{score("recall@1", recall)}}}
	r.Attack = &record.Attack{Scores: map[string]record.Scores{
		"published": {score("TMA", 0.5), score("ES:D", 1.25), score("ERS", 0.25)},
		"fixed":     {score("TMA", 0.5), score("ES:D", 1.5), score("ERS", 0.2375)},
	}}
	return r
}

func publishedOf(t *testing.T, table *Table, runs []*rundir.Run, variants ...string) *study.Document {
	t.Helper()
	r, err := table.Compare(runs, variants)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// oursOf are the rows of runs below a row of the paper.
func oursOf(d *study.Document, label string) []*study.Row {
	return slices.DeleteFunc(slices.Clone(d.Rows), func(r *study.Row) bool { return r.Paper || r.Fields["defense"] != label })
}

// Recall 0.90, 0.92, 0.94: mean 0.92, deviation 0.02, half of the interval
// 4.302653 * 0.02 / sqrt(3) = 0.0496828.
const paperText = `hardness: Hardness
╭─────────┬─────┬─────────────────┬───────┬───┬────────────┬──────────────┬──────────────┬───────────╮
│ defense │ eta │ numbers         │ data  │ n │        R@1 │          TMA │         ES:D │       ERS │
├─────────┼─────┼─────────────────┼───────┼───┼────────────┼──────────────┼──────────────┼───────────┤
│ HM[S,g] │   8 │ paper           │ CUB   │ - │       53.9 │        0.567 │        0.783 │      32.0 │
│ HM[S,g] │   8 │ ours, published │ mnist │ 3 │  92.0 ±5.0 │ 0.500 ±0.000 │ 1.250 ±0.000 │ 25.0 ±0.0 │
│ HM[S,0] │   8 │ paper           │ CUB   │ - │ *collapse* │            - │            - │         - │
│ HM[S,0] │   8 │ ours, published │ mnist │ 1 │ *collapse* │            - │            - │         - │
│ N/A     │   8 │ ours, published │ mnist │ 1 │       99.0 │        0.500 │        1.250 │      25.0 │
╰─────────┴─────┴─────────────────┴───────┴───┴────────────┴──────────────┴──────────────┴───────────╯
paper: A and B, 2022; CUB
of no row of this table: other
u: collapsed at step 7 of 20
in percent, except TMA (a cosine) and ES:D (a distance); ±: half the 95 % interval of Student's t over n seeds; of one run, the interval over its queries is in --format csv and --json
`

func paperRuns() []*rundir.Run {
	lost := paperRun("u", "hm", "2.2", 0, 0.1)
	lost.Manifest.Status, lost.Manifest.Steps, lost.Manifest.Of = "collapsed", 7, 20
	return []*rundir.Run{
		paperRun("g-seed-0", "hm", "null", 0, 0.9), paperRun("g-seed-1", "hm", "null", 1, 0.92), paperRun("g-seed-2", "hm", "null", 2, 0.94),
		lost, paperRun("other", "act", "null", 0, 0.5), paperRun("small-none", "none", "null", 0, 0.99),
	}
}

func TestPaperTableBesideRuns(t *testing.T) {
	r := publishedOf(t, hardness(t), paperRuns(), "published")
	if d := cmp.Diff(paperText, write(t, r, "text")); d != "" {
		t.Error(d)
	}
	e := oursOf(r, "HM[S,g]")[0].Scores["R@1"]
	testutil.Near(t, "mean", e.Value, 0.92, 1e-6)
	testutil.Near(t, "low", e.CI95[0], 0.92-0.04968275, 1e-6)
	testutil.Near(t, "high", e.CI95[1], 0.92+0.04968275, 1e-6)
	if one := oursOf(r, "N/A")[0].Scores["R@1"]; one.CI95 == nil || one.CI95[0] != 0.99-0.125 || one.N != 1 {
		t.Errorf("one run: the interval over queries is %+v", one)
	}
	for _, f := range render.Formats() {
		if s := write(t, r, f); !strings.Contains(s, "HM[S,g]") {
			t.Errorf("%s: %s", f, s)
		}
	}
}

func TestPaperTableWithoutRuns(t *testing.T) {
	r := publishedOf(t, hardness(t), nil, "published")
	s := write(t, r, "csv")
	want := "defense,eta,numbers,data,n,R@1,TMA,ES:D,ERS\n\"HM[S,g]\",8,paper,CUB,,0.539,0.567,0.783,0.32\n\"HM[S,0]\",8,paper,CUB,,*collapse*,,,\nN/A,,paper,,,,,,\n"
	if d := cmp.Diff(want, s); d != "" {
		t.Error(d)
	}
}

func TestPaperTableVariants(t *testing.T) {
	both, err := Variants("both")
	if err != nil {
		t.Fatal(err)
	}
	ours := oursOf(publishedOf(t, hardness(t), paperRuns()[:1], both...), "HM[S,g]")
	if len(ours) != 2 || ours[0].Scores["ES:D"].Value != 1.25 || ours[1].Scores["ES:D"].Value != 1.5 || ours[1].Scores["R@1"].Value != 0.9 {
		t.Errorf("%+v", ours)
	}
	if _, err := Variants("mended"); err == nil {
		t.Error("an unknown variant was taken")
	}
}

// A run says so where its training images were not crafted in float32.
func TestPaperTableNamesThePrecision(t *testing.T) {
	for precision, want := range map[string]string{"": "ours, published", "float32": "ours, published", "bf16": "ours, published, crafted in bf16"} {
		run := paperRun("a", "hm", "null", 0, 0.9)
		if precision != "" {
			run.Labels = append(run.Labels, rundir.Label{Key: "defense.pgd.precision", Value: precision})
		}
		if s := write(t, publishedOf(t, hardness(t), []*rundir.Run{run}, "published"), "csv"); !strings.Contains(s, ",\""+want+"\",") {
			t.Errorf("%q: no %s in\n%s", precision, want, s)
		}
	}
}

// Runs of one row that differ in more than the seed are apart, and each says which
// it is.
func TestPaperTableKindsStayApart(t *testing.T) {
	a, b := paperRun("a", "hm", "null", 0, 0.9), paperRun("b", "hm", "null", 1, 0.5)
	b.Labels = append(b.Labels, rundir.Label{Key: "defense.pgd.scale", Value: "ball"})
	s := write(t, publishedOf(t, hardness(t), []*rundir.Run{a, b}, "published"), "csv")
	for _, want := range []string{
		"defense,eta,numbers,data,n,R@1,R@1_low,R@1_high,TMA,", "\"ours, published, a\",mnist,1,0.9,0.775,1.025,0.5,0.375,0.625,1.25,", "\"ours, published, b\",mnist,1,0.5,"} {
		if !strings.Contains(s, want) {
			t.Errorf("no %s in\n%s", want, s)
		}
	}
}

func TestPaperTableLostRunsDoNotCount(t *testing.T) {
	runs := paperRuns()[:3]
	runs[1].Manifest.Status = "diverged"
	r := publishedOf(t, hardness(t), runs, "published")
	e := oursOf(r, "HM[S,g]")[0]
	testutil.Near(t, "mean of the others", e.Scores["R@1"].Value, 0.92, 1e-6)
	if e.Scores["R@1"].N != 2 || e.N != 2 {
		t.Errorf("%+v", e)
	}
	if notes := strings.Join(r.Notes, "\n"); !strings.Contains(notes, "1 of the 3 runs collapsed or diverged; the numbers are of the others") {
		t.Error(notes)
	}
	for _, x := range runs {
		x.Manifest.Status = "diverged"
	}
	if s := write(t, publishedOf(t, hardness(t), runs, "published"), "csv"); !strings.Contains(s, "mnist,3,*diverged*,,,,diverged at step 0 of 0\n") {
		t.Error(s)
	}
}

// What is still in training, or was stopped, is neither counted nor shown, and it is
// said how many there are.
func TestPaperTableUnfinishedRunsDoNotCount(t *testing.T) {
	runs := paperRuns()[:3]
	runs[1].Manifest.Status = "running"
	runs[2].Manifest.Status, runs[2].Eval, runs[2].Attack = "interrupted", nil, nil
	runs = append(runs, paperRun("g-seed-3", "hm", "null", 3, 0.5))
	r := publishedOf(t, hardness(t), runs, "published", "fixed")
	e := oursOf(r, "HM[S,g]")[0]
	testutil.Near(t, "mean of the finished", e.Scores["R@1"].Value, 0.7, 1e-6)
	if e.N != 2 || e.Scores["R@1"].N != 2 || len(e.Runs) != 4 {
		t.Errorf("%+v", e)
	}
	notes := strings.Join(r.Notes, "\n")
	if n := strings.Count(notes, "g: unfinished and not counted: 2 of 4 runs"); n != 1 {
		t.Errorf("%d times said in\n%s", n, notes)
	}
	for _, want := range []string{"g-seed-1: running, or killed; tercet train --resume g-seed-1 continues it\n", "g-seed-2: interrupted at step 0 of 0; tercet"} {
		if !strings.Contains(notes+"\n", want) {
			t.Errorf("no %q in\n%s", want, notes)
		}
	}
	if strings.Contains(notes, "no eval.json") || strings.Contains(notes, "count as they are") {
		t.Error(notes)
	}
	if s := write(t, r, "csv"); !strings.Contains(s, "\"ours, published\",mnist,2,0.7,") {
		t.Error(s)
	}
	// With none that is finished there are no numbers.
	runs[0].Manifest.Status, runs[3].Manifest.Status = "failed", "running"
	if s := write(t, publishedOf(t, hardness(t), runs, "published"), "csv"); !strings.Contains(s, "mnist,0,*unfinished*,,,,\"g-seed-0: failed at step 0 of 0 | g-seed-1: running, or killed | ") {
		t.Error(s)
	}
	runs[3].Manifest.Status = "collapsed"
	if s := write(t, publishedOf(t, hardness(t), runs, "published"), "csv"); !strings.Contains(s, "mnist,1,*collapse*,,,,\"g-seed-0: failed") {
		t.Error(s)
	}
}

func TestPaperTableMissingResults(t *testing.T) {
	runs := paperRuns()[:3]
	runs[0].Eval, runs[1].Attack = nil, nil
	runs[2].Attack.Scores["published"] = runs[2].Attack.Scores["published"][:2]
	r := publishedOf(t, hardness(t), runs, "published")
	notes := strings.Join(r.Notes, "\n")
	for _, want := range []string{
		"no eval.json in g-seed-0; tercet eval --run g-seed-0 makes it",
		"no attack.json in g-seed-1; tercet attack --run g-seed-1 --suite ers --variant both makes it",
		"not all ten scores in g-seed-2; ",
	} {
		if !strings.Contains(notes, want) {
			t.Errorf("no %q in\n%s", want, notes)
		}
	}
	if e := oursOf(r, "HM[S,g]")[0].Scores; e["R@1"].N != 2 || e["TMA"].N != 2 || e["ERS"].N != 1 {
		t.Errorf("%+v", e)
	}
}

// What a summary warns of is told of a table, too: a network that retrieves nothing
// has a fine ERS, and a seed that counts twice makes an interval too narrow.
func TestPaperTableWarns(t *testing.T) {
	runs := paperRuns()[:3]
	runs[1].Manifest.Seed = 0
	runs[2].Attack.Warnings = []string{"embeddings have collapsed, and ERS rewards it", "8 images were not attacked"}
	notes := strings.Join(publishedOf(t, hardness(t), runs, "published").Notes, "\n")
	for _, want := range []string{"the same seed twice, so the interval is too narrow: g-seed-0 and g-seed-1 (0)", "g-seed-2: embeddings have collapsed, and ERS rewards it"} {
		if !strings.Contains(notes, want) {
			t.Errorf("no %q in\n%s", want, notes)
		}
	}
	if strings.Contains(notes, "8 images") || strings.Contains(notes, "attack.json of") {
		t.Error(notes)
	}
	runs[0].Eval.Source = record.Source{Checkpoint: "best", Step: 5, Set: "test", Items: 9}
	runs[0].Attack.Source = record.Source{Checkpoint: "last", Step: 8, Set: "test", Items: 9}
	notes = strings.Join(publishedOf(t, hardness(t), runs, "published").Notes, "\n")
	if want := "g-seed-0: eval.json is of checkpoint best (step 5) on 9 images of set test, attack.json of checkpoint last (step 8) on 9 images of set test"; !strings.Contains(notes, want) {
		t.Errorf("no %q in\n%s", want, notes)
	}
	table := hardness(t)
	for i := range table.Rows {
		table.Rows[i].Paper = nil
	}
	table.Columns = []string{"R@1", "TMA"}
	if err := table.check(); err != nil {
		t.Fatal(err)
	}
	if notes := strings.Join(publishedOf(t, table, runs, "published").Notes, "\n"); strings.Contains(notes, "ERS rewards") {
		t.Errorf("a table without ERS: %s", notes)
	}
}

func TestPaperTableTwoRowsOfOneRun(t *testing.T) {
	table := hardness(t)
	table.Rows[1].Match = observe.Where{"defense.name": "hm"}
	if err := table.check(); err != nil {
		t.Fatal(err)
	}
	_, err := table.Compare(paperRuns()[:1], []string{"published"})
	if err == nil || err.Error() != `g-seed-0 belongs to two rows of the table, "HM[S,g]" eta 8 (row 1) and "HM[S,0]" eta 8 (row 2): their match sections must differ` {
		t.Error(err)
	}
}

// The ERS that a paper prints follows from its ten scores, to 0.1.
func TestPaperTableChecksERS(t *testing.T) {
	table := &Table{Columns: []string{"CA+", "CA-", "QA+", "QA-", "TMA", "ES:D", "ES:R", "LTM", "GTM", "GTT", "ERS"}}
	// 2*12.7 + 100-46.4 + 2*11.6 + 100-39.9 + 100*(1-.567) + 50*(2-.783) + 16.8 + 11.9 + 27.9 + 1.4 = 324.45
	for _, ers := range []float64{32.4, 32.6} {
		table.Rows = append(table.Rows, Row{Label: fmt.Sprint("ERS ", ers), Match: observe.Where{"seed": len(table.Rows)},
			Paper: []any{12.7, 46.4, 11.6, 39.9, 0.567, 0.783, 16.8, 11.9, 27.9, 1.4, ers}})
	}
	if err := table.check(); err != nil {
		t.Fatal(err)
	}
	r := publishedOf(t, table, nil, "published")
	testutil.Near(t, "ERS", r.Rows[0].Scores[ersOfTen].Value, 0.32445, 1e-6)
	if r.Notes[1] != `"ERS 32.6" (row 2): the paper prints ERS 32.6, its ten scores give 32.4` {
		t.Errorf("%q", r.Notes)
	}
	if s := write(t, r, "text"); !strings.Contains(s, "ERS of the ten") {
		t.Error(s)
	}
}

// A grid of two sources and two destinations, of which the paper has three cells and
// we have two: one with two seeds, one lost.
func TestPaperGrid(t *testing.T) {
	table := hardness(t)
	table.Rows = table.Rows[:2]
	table.Rows[0].Cell, table.Rows[1].Cell = []string{"soft", "g"}, []string{"soft", "0"}
	table.Rows = append(table.Rows, Row{Label: "HM[R,0]", Cell: []string{"random", "0"}, Paper: []any{10, nil, nil, 2.55}, Match: observe.Where{"seed": 77}})
	if err := table.check(); err != nil {
		t.Fatal(err)
	}
	runs := paperRuns()
	r := publishedOf(t, table, []*rundir.Run{runs[0], runs[1], runs[3]}, "published")
	grid, err := table.Grid(r, []string{"R@1", "TMA", "ERS"})
	if err != nil {
		t.Fatal(err)
	}
	want := "source,numbers,g,0\nsoft,paper,53.9 / 0.567 / 32.0,*collapse*\n" +
		"soft,\"ours, published\",91.0 / 0.500 / 25.0,*collapse*\nrandom,paper,,10.0 / - / 2.5\n"
	if d := cmp.Diff(want, rendered(t, grid)); d != "" {
		t.Error(d)
	}
	if _, err := table.Grid(r, []string{"R@3"}); err == nil || !strings.Contains(err.Error(), "no column \"R@3\"") {
		t.Error(err)
	}
	if _, err := hardness(t).Grid(publishedOf(t, hardness(t), nil, "published"), []string{"R@1"}); err == nil || !strings.Contains(err.Error(), "is not a grid") {
		t.Error(err)
	}
	table.Rows[1].Cell = nil
	if err := table.check(); err == nil || !strings.Contains(err.Error(), "in all rows or in none") {
		t.Error(err)
	}
}

// Seeds attacked with unequal budgets, or with unequal numbers of queries, have no
// common mean.
func TestPaperTableUnequalAttacksStayApart(t *testing.T) {
	for name, change := range map[string]func(*record.Attack){
		"queries": func(a *record.Attack) { a.Queries = 7 },
		"eps":     func(a *record.Attack) { a.Options.Eps = 0.5 },
		"set":     func(a *record.Attack) { a.Source.Set = "train" },
	} {
		runs := paperRuns()[:3]
		change(runs[1].Attack)
		lost := paperRun("g-seed-3", "hm", "null", 3, 0.1)
		lost.Manifest.Status, lost.Attack = "collapsed", nil
		ours := oursOf(publishedOf(t, hardness(t), append(runs, lost), "published"), "HM[S,g]")
		if len(ours) != 2 || ours[0].N != 2 || ours[1].N != 1 || ours[0].Scores["ERS"].N != 2 || ours[1].Runs[0] != "g-seed-1" || ours[1].Scores["ERS"].N != 1 {
			t.Errorf("%s: %+v", name, ours)
		}
		if ours[0].Fields["numbers"] == ours[1].Fields["numbers"] {
			t.Errorf("%s: both are called %s", name, ours[0].Fields["numbers"])
		}
	}
}

// rendered is a table as CSV.
func rendered(t *testing.T, table *render.Table) string {
	t.Helper()
	var b strings.Builder
	if err := table.Write(&b, "csv"); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// What limits the scores of runs is said in text and CSV, as in every table; n is the number
// of values; what is not measured in the same way has no mean.
func TestPaperTableNotes(t *testing.T) {
	t.Chdir(t.TempDir())
	loss := rundir.Label{Key: "loss.name", Value: "triplet"}
	part := rundirtest.Replaced(rundirtest.EvalFile(0.5, 0), `"items": 200`, `"items": 20`)
	runs := []*rundir.Run{
		rundirtest.Fake(t, "a", 0, "finished", map[string]string{"eval.json": part}, loss),
		rundirtest.Fake(t, "b", 1, "finished", map[string]string{"eval.json": part}, loss),
		rundirtest.Fake(t, "c", 2, "finished", map[string]string{"eval.json": rundirtest.Replaced(part, `"set": "test"`, `"set": "train"`)}, loss),
	}
	for _, r := range runs {
		r.Manifest.Selection = &record.Selection{Split: "test", Metric: "recall@1"}
		r.Manifest.Of = 200
	}
	table := &Table{Name: "x", Columns: []string{"R@1", "NMI"}, Rows: []Row{{Label: "x", Match: observe.Where{"loss.name": "triplet"}}}}
	if err := table.check(); err != nil {
		t.Fatal(err)
	}
	d := publishedOf(t, table, runs, "fixed")
	text, csv := write(t, d, "text"), write(t, d, "csv")
	for _, want := range []string{
		"a/eval.json is of 20 of the 200 test images\n",
		"the stopping step was chosen on test images, so the test scores are too good: ",
		"c/eval.json is of the train images, checkpoint last, not of the test images, checkpoint last: left out\n",
		"stopping step chosen on test images",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	for _, want := range []string{"20 of 200 test images", ",stopping step chosen on test images,", `x,ours,glyphs,2,0.5`} {
		if !strings.Contains(csv, want) {
			t.Errorf("no %q in\n%s", want, csv)
		}
	}
	cosine := rundirtest.Fake(t, "d", 3, "finished", map[string]string{"eval.json": rundirtest.Replaced(part, `"source": {`, `"options": {"distance": "cosine"}, "source": {`)}, loss)
	d = publishedOf(t, table, []*rundir.Run{runs[0], cosine}, "fixed")
	if r := oursOf(d, "x")[0]; r.Scores["R@1"].N != 0 || !strings.Contains(strings.Join(d.Notes, "\n"), "no mean of R@1") {
		t.Errorf("%+v %s", r.Scores, d.Notes)
	}
}
func write(t *testing.T, d *study.Document, format string) string {
	t.Helper()
	var b bytes.Buffer
	if err := d.Layout(format == "csv" || format == "json").Write(&b, format); err != nil {
		t.Fatal(err)
	}
	return b.String()
}
