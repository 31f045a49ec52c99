package report

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func pairStudy(t *testing.T, runs []*RunDir, curves bool) *PairStudy {
	t.Helper()
	s, err := ComparePairs(runs, curves)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestComparePairs(t *testing.T) {
	folder := t.TempDir()
	var runs []*RunDir
	for seed := range 3 {
		x := 0.1 * float64(seed+1)
		runs = append(runs,
			fakePairs{scenario: "s2", noise: "sln", effective: 0.2, classes: 10, width: 8, seed: seed, train: 0.25, clean: 0.375, test: -1}.make(t, folder),
			fakePairs{scenario: "s2", noise: "pln", effective: 0.1, classes: 10, width: 8, seed: seed, train: x, clean: 0.25 + x, test: 0.5 - x, floor: x / 2, lower: 0.005, upper: 0.0067}.make(t, folder))
	}
	s := pairStudy(t, runs, false)
	if len(s.Rows) != 2 || len(s.Notes) != 0 {
		t.Fatalf("%d rows, notes %q", len(s.Rows), s.Notes)
	}
	r := s.Rows[0]
	if r.noiseName() != "PLN 10 %" || r.Width != 8 || r.Parameters != 784*8+8+2*(64+8) || r.Steps != 94 || r.Pairs != 6000 || r.Classes != 10 || r.Scenario != "s2" || r.Online || !slices.Equal(r.Seeds, []uint64{0, 1, 2}) {
		t.Errorf("%+v", r)
	}
	for _, want := range []struct {
		key         string
		value, half float64
	}{
		{"train_error", 0.2, halfOfTenth}, {"true_error", 0.45, halfOfTenth}, {"test_error", 0.3, halfOfTenth}, {"floor_duplicates", 0.1, halfOfTenth / 2},
		{"above_floor", 0.1, halfOfTenth / 2}, {"effective", 0.1, 0}, {"lower", 0.005, 0}, {"upper", 0.0067, 0}, {"e_sim", 0.001, 0},
	} {
		meanIs(t, want.key, r.Scores[want.key], want.value, want.half, 3)
	}
	if _, ok := s.Rows[1].Scores["test_error"]; ok {
		t.Error("a test error of no pairs")
	}
	if _, ok := s.Rows[1].Scores["lower"]; ok {
		t.Error("bounds where there is no theorem")
	}
	var b strings.Builder
	if err := s.Table(false).Write(&b, "text"); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"20.00 ±24.84", "│  0.50 │  0.67 │ 0.1000 │", "all rows: data mnist, classes 10, scenario s2, negatives same-index, order shuffled, drawn offline, model mlp, width 8, steps 94\n"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
	b.Reset()
	if err := s.Table(true).Write(&b, "csv"); err != nil || !strings.HasPrefix(b.String(), "data,classes,scenario,negatives,order,drawn,other,noise,model,width,parameters,steps,n,effective,") {
		t.Errorf("%v\n%s", err, b.String())
	}
}

func TestComparePairsLeavesOut(t *testing.T) {
	folder := t.TempDir()
	base := fakePairs{scenario: "s1", noise: "none", classes: 3, width: 4, train: 0.1, test: 0.2}
	with := func(change func(*fakePairs)) *RunDir {
		f := base
		change(&f)
		return f.make(t, folder)
	}
	good := with(func(*fakePairs) {})
	runs := []*RunDir{
		good,
		with(func(f *fakePairs) { f.seed, f.status = 1, "collapsed" }),
		with(func(f *fakePairs) { f.seed, f.status = 2, "interrupted" }),
		with(func(f *fakePairs) { f.seed, f.noPairs = 3, true }),
		with(func(f *fakePairs) { f.seed, f.labels = 4, []Label{{"optimizer.lr", "0.5"}} }),
		with(func(f *fakePairs) { f.seed, f.labels = 5, []Label{{"optimizer.lr", "0.25"}} }),
		with(func(f *fakePairs) { f.seed, f.labels = 6, []Label{{"optimizer.lr", "0.25"}} }),
	}
	s := pairStudy(t, runs, false)
	notes := strings.Join(s.Notes, "\n")
	for _, want := range []string{
		"seed-1: collapsed at step 94 of 100: stopped; it does not count", "seed-2: interrupted at step 94 of 100", "goes on; it does not count",
		"no pairs.json in " + runs[3].Dir + "; runs with batch.sampler: pair-graph write it", "fewer than 2 seeds: ",
	} {
		if !strings.Contains(notes, want) {
			t.Errorf("no %q in notes\n%s", want, notes)
		}
	}
	if len(s.Rows) != 3 || s.Rows[1].other() != "optimizer.lr 0.25" || s.Rows[1].N != 2 || s.Rows[0].other() != "" {
		t.Errorf("%d rows, %q of %d", len(s.Rows), s.Rows[1].other(), s.Rows[1].N)
	}
	if _, err := ComparePairs([]*RunDir{good, good}, false); err == nil || !strings.Contains(err.Error(), "one setting with one seed, 0: name one of them") {
		t.Errorf("one run twice: %v", err)
	}
	for text, want := range map[string]string{
		"{": "pairs.json:1", `{"schema": "tercet.pairs/9"}`: "tercet.pairs/9", `{"schema": "tercet.pairs/1"}`: "an error of 0 on 0 pairs",
		`{"schema": "tercet.pairs/1", "train": {"pairs": 4, "error": 2}}`: "an error of 2 on 4 pairs",
	} {
		put(t, good.Dir, "pairs.json", text)
		if _, err := ComparePairs([]*RunDir{good}, false); !errors.Is(err, ErrRun) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
	put(t, good.Dir, "pairs.json", `{"schema": "tercet.pairs/1", "train": {"pairs": 4, "error": 0}, "train_clean": {"pairs": 4, "error": 0}}`)
	put(t, good.Dir, "manifest.json", manifest(0, "finished", 100))
	if _, err := ComparePairs([]*RunDir{good}, false); !errors.Is(err, ErrRun) || !strings.Contains(err.Error(), "no pair graph") {
		t.Errorf("a manifest without a graph: %v", err)
	}
	if s := pairStudy(t, nil, false); len(s.Rows) != 0 || s.Table(false).Write(io.Discard, "text") != nil {
		t.Error("no runs")
	}
}

func TestOnline(t *testing.T) {
	for _, tc := range []struct {
		labels []Label
		want   bool
	}{
		{nil, false}, {[]Label{{"batch.redraw", "true"}}, true}, {[]Label{{"batch.redraw", "false"}, {"train.epochs", "40"}}, false}, {[]Label{{"train.epochs", "1"}}, true},
		{[]Label{{"data.distort.strength", "0.5"}, {"data.distort.fresh", "true"}}, true}, {[]Label{{"data.distort.strength", "0"}, {"data.distort.fresh", "true"}}, false},
	} {
		if got := (&pairRun{RunDir: &RunDir{Labels: tc.labels}}).online(); got != tc.want {
			t.Errorf("%v: %v", tc.labels, got)
		}
	}
}

// Evaluations are read by ascending step; one that was done again counts as it was last.
func TestReadPairCurve(t *testing.T) {
	path := filepath.Join(t.TempDir(), "events.jsonl")
	write := func(lines ...string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write(`{"event":"step","step":1,"loss":1}`, evaluated(10, 1, 0.5, 0.25), evaluated(20, 2, 0.375, 0.125), evaluated(10, 1, 0.25, 0.25),
		`{"event":"eval","step":30,"epoch":3,"metrics":{"pair_train_accuracy":0.75}}`, `{"event":"eval","step":40,"metrics":{"pair_acc`)
	got, err := readPairCurve(path)
	if err != nil {
		t.Fatal(err)
	}
	want := []pairPoint{{10, 1, 0.25, 0.25}, {20, 2, 0.375, 0.125}, {30, 3, math.NaN(), 0.25}}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%v, want %v", got, want)
	}
	write(`{"event":"eval","step":40,"metrics":{"pair_acc`, evaluated(20, 2, 0.375, 0.125))
	if _, err := readPairCurve(path); !errors.Is(err, ErrRun) || !strings.Contains(err.Error(), "events.jsonl:1") {
		t.Errorf("a broken line in the middle: %v", err)
	}
	if got, err := readPairCurve(path + "x"); got != nil || err != nil {
		t.Errorf("no file: %v %v", got, err)
	}
}
