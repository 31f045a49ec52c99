package study

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tercet/internal/rundir"
)

// The worlds of the tests: run directories written by hand, with known differences
// between their seeds. The CSV files in testdata were printed of them by the engines that
// this package replaced.

// put writes a file of a run and makes its folders.
func put(t *testing.T, dir, name, text string) {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// read reads a run and gives it the keys of its config.
func read(t *testing.T, dir string, labels ...rundir.Label) *rundir.Run {
	t.Helper()
	r, err := rundir.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	r.Labels = labels
	return r
}

func label(key string, value any) rundir.Label {
	return rundir.Label{Key: key, Value: fmt.Sprint(value)}
}

// fakeClustered is a run with clusterings of the given nmi, by method.
func fakeClustered(t *testing.T, data, loss string, rate float64, seed int, nmi map[string]float64) *rundir.Run {
	t.Helper()
	dir := fmt.Sprintf("runs/%s-%s-%v-%d", data, loss, rate, seed)
	put(t, dir, "manifest.json", fmt.Sprintf(`{"schema": "tercet.run/1", "name": "x", "status": "finished", "seed": %d, "steps": 7, "data": {"name": %q}}`, seed, data))
	labels := []rundir.Label{label("name", dir), label("seed", seed), label("model.name", "cnn"), label("loss.name", loss)}
	if loss == "triplet" {
		labels = append(labels, label("loss.distance", "squared"), label("loss.form", "hinge"))
	}
	kind := "none"
	if rate > 0 {
		kind, labels = "sln", append(labels, label("noise.rate", rate))
	}
	labels = append(labels, label("noise.kind", kind))
	for method, v := range nmi {
		threshold, of := "null", method
		if method != "kmeans" {
			threshold, of = fmt.Sprint(0.5+v), "multicut"
		}
		put(t, dir, "cluster-"+method+"/cluster.json", fmt.Sprintf(`{"schema": "tercet.cluster/2", "source": {"checkpoint": "last", "step": 7, "set": "test", "items": 100}, "options": {"method": %q},
 "clusters": %d, "threshold": %s, "clustering": {"nmi": {"value": %v}, "acc": {"value": %v}, "purity": {"value": 1}}}`, of, 10+seed, threshold, v, v/2))
	}
	return read(t, dir, labels...)
}

// clusterWorld has L1 without margins, and L3; nmi of L3 is above that of L1 by 0.1, 0.2
// and 0.3 for the three seeds, at noise 0.3 by twice that.
func clusterWorld(t *testing.T) []*rundir.Run {
	var runs []*rundir.Run
	for seed := range 3 {
		x := 0.1 * float64(seed+1)
		for _, rate := range []float64{0.3, 0.2, 0} {
			more := x
			if rate == 0.3 {
				more = 2 * x
			}
			runs = append(runs,
				fakeClustered(t, "mnist", "triplet-threshold", rate, seed, map[string]float64{"kmeans": 0.25 + more, "multicut-margins": 0.375 + more, "multicut-fit": 0.125}),
				fakeClustered(t, "mnist", "triplet", rate, seed, map[string]float64{"kmeans": 0.25, "multicut-fit": 0.375}))
		}
	}
	return runs
}

// fakeNoisy is a run with scores under noise.
func fakeNoisy(t *testing.T, kind string, rate float64, seed int, triplet, recall, nmi float64, labels ...rundir.Label) *rundir.Run {
	t.Helper()
	dir := filepath.Join("runs", fmt.Sprintf("%s-%v-%s-%d", kind, rate, strings.NewReplacer("[", "", "]", "", "{", "", "}", "", " ", "-", "/", "-").Replace(fmt.Sprint(labels)), seed))
	put(t, dir, "manifest.json", fmt.Sprintf(`{"schema": "tercet.run/1", "name": "x", "version": "v1", "status": "finished", "seed": %d,
 "data": {"name": "mnist", "noise": {"kind": %q, "wanted": %v, "effective": %v}}, "steps": 100, "steps_planned": 100}`, seed, kind, rate, rate))
	put(t, dir, "eval.json", fmt.Sprintf(`{"schema": "tercet.eval/1", "source": {"checkpoint": "last", "step": 100, "set": "test", "items": 200},
 "retrieval": {"recall@1": {"value": %v}, "triplet_error": {"value": %v}}, "clustering": {"nmi": {"value": %v}}}`, recall, triplet, nmi))
	put(t, dir, "attack.json", fmt.Sprintf(`{"schema": "tercet.attack/2", "source": {"checkpoint": "last", "step": 100, "set": "test", "items": 200}, "queries": 200, "scores": {"fixed": {"ERS": {"value": %v}}}}`, recall/2))
	return read(t, dir, append([]rundir.Label{label("name", dir), label("seed", seed), label("noise.kind", kind)}, labels...)...)
}

var (
	plainLoss  = []rundir.Label{label("loss.name", "triplet"), label("loss.margin", "0.2"), label("loss.distance", "squared")}
	robustLoss = robustWith("expected", "joint", `""`)
)

func robustWith(form, weights, from string) []rundir.Label {
	return []rundir.Label{label("loss.name", "triplet-robust"), label("loss.margin", "0.2"), label("loss.distance", "squared"), label("loss.form", form), label("loss.weights", weights),
		label("loss.beta", "auto"), label("loss.rho", "null"), label("loss.noise_from", from)}
}

// robustWorld: at sln 0.3 the robust loss has a triplet error lower by 0.1, 0.2 and 0.3,
// and a recall lower by 0.01, 0 and -0.01; at triplet flips it has the same. A second
// margin, the weights of a product and noise that was estimated stand beside it.
func robustWorld(t *testing.T) []*rundir.Run {
	var runs []*rundir.Run
	half := []rundir.Label{plainLoss[0], label("loss.margin", "0.5"), plainLoss[2]}
	for seed := range 3 {
		x := 0.1 * float64(seed+1)
		runs = append(runs,
			fakeNoisy(t, "sln", 0.3, seed, 0.5, 0.8, 0.5, plainLoss...),
			fakeNoisy(t, "sln", 0.3, seed, 0.5-x, 0.8+0.01*float64(seed-1), 0.25, robustLoss...),
			fakeNoisy(t, "sln", 0.3, seed, 0.45, 0.8, 0.5, half...),
			fakeNoisy(t, "sln", 0.3, seed, 0.25+x/10, 0.75, 0.5, robustWith("expected", "product", `""`)...),
			fakeNoisy(t, "sln", 0.3, seed, 0.25+x/20, 0.75, 0.5, robustWith("expected", "joint", fmt.Sprintf("runs/plain-%d/noise.json", seed))...),
			fakeNoisy(t, "triplet-flip", 0.1, seed, 0.25, 0.75, 0.5, plainLoss...),
			fakeNoisy(t, "triplet-flip", 0.1, seed, 0.25, 0.75, 0.5, robustLoss...),
			fakeNoisy(t, "none", 0, seed, 0.125, 0.9+x/10, 0.75, plainLoss...))
	}
	return runs
}

// fakePairs is a run on a pair graph.
type fakePairs struct {
	scenario, negatives string
	order               string  // shuffled
	found               float64 // share of wrong pairs, if not effective
	noise               string  // kind
	effective           float64
	classes, width      int
	seed                int
	train, clean, test  float64 // errors; no test pairs below 0
	floor               float64
	lower, upper        float64 // with an upper bound, the document has the theorem
	status              string
	events              []string
	labels              []rundir.Label
}

func (f fakePairs) make(t *testing.T) *rundir.Run {
	t.Helper()
	set := func(s *string, v string) {
		if *s == "" {
			*s = v
		}
	}
	set(&f.negatives, "same-index")
	set(&f.order, "shuffled")
	set(&f.status, "finished")
	if f.found == 0 {
		f.found = f.effective
	}
	var extra strings.Builder
	for _, l := range f.labels {
		fmt.Fprintf(&extra, "-%s-%s", l.Key, l.Value)
	}
	dir := filepath.Join("runs", fmt.Sprintf("%s-%s-%s-%s-%v-k%d-w%d%s_seed-%d", f.scenario, f.negatives, f.order, f.noise, f.effective, f.classes, f.width, strings.ReplaceAll(extra.String(), ".", "-"), f.seed))
	noise := ""
	if f.noise != "none" {
		noise = fmt.Sprintf(`"noise": {"kind": %q, "wanted": %v, "found": %v, "effective": %v},`, f.noise, f.effective, f.effective, f.effective)
	}
	params := 784*f.width + f.width + 2*(f.width*f.width+f.width)
	put(t, dir, "manifest.json", fmt.Sprintf(`{"schema": "tercet.run/1", "name": "x", "version": "v1", "status": %q, "message": "stopped. Try less.", "seed": %d,
 "data": {"name": "mnist", %s "graph": {"scenario": %q, "negatives": %q, "order": %q, "pairs": 6000, "effective": %v}, "train": {"items": 60000, "classes": %d}},
 "model": {"name": "mlp", "parameters": %d}, "steps": 94, "steps_planned": 100}`, f.status, f.seed, noise, f.scenario, f.negatives, f.order, f.found, f.classes, params))
	test, theorem := "", ""
	if f.test >= 0 {
		test = fmt.Sprintf(`"test": {"pairs": 9000, "error": %v},`, f.test)
	}
	if f.upper > 0 {
		theorem = fmt.Sprintf(`"theorem": {"e_sim": 0.001, "lower": %v, "e_diff": %v},`, f.lower-0.001, f.upper-0.001)
	}
	put(t, dir, "pairs.json", fmt.Sprintf(`{"schema": "tercet.pairs/1", "parameters": %d, "steps": 94, %s %s "train": {"pairs": 6000, "error": %v}, "train_clean": {"pairs": 6000, "error": %v}, "floor_duplicates": %v}`,
		params, test, theorem, f.train, f.clean, f.floor))
	if f.events != nil {
		put(t, dir, "events.jsonl", strings.Join(f.events, "\n")+"\n")
	}
	return read(t, dir, append([]rundir.Label{label("name", filepath.Base(dir)), label("seed", f.seed), label("data.name", "mnist"), label("noise.kind", f.noise), label("noise.effective", f.effective),
		label("model.name", "mlp"), label("model.width", f.width), label("batch.scenario", f.scenario), label("batch.negatives", f.negatives), label("batch.order", f.order), label("data.classes", f.classes)}, f.labels...)...)
}

// evaluated is an event of an evaluation.
func evaluated(step int, epoch, test, train float64) string {
	return fmt.Sprintf(`{"event":"eval","step":%d,"epoch":%v,"metrics":{"map@r":0.5,"pair_accuracy":%v,"pair_train_accuracy":%v,"recall@1":0.9}}`, step, epoch, 1-test, 1-train)
}

// widthWorld has curves over the widths 2 to 32, three seeds whose test errors differ by
// the same at every width unless a curve adds to it. Some curves rise and fall during
// training.
func widthWorld(t *testing.T) []*rundir.Run {
	var runs []*rundir.Run
	for _, c := range []struct {
		scenario, noise string
		effective       float64
		test            [5]float64
		spread          float64
	}{
		{"s2", "none", 0, [5]float64{0.20, 0.18, 0.22, 0.10, 0.08}, 0},
		{"s2", "pln", 0.1, [5]float64{0.30, 0.28, 0.33, 0.34, 0.20}, 0.01},
		{"s2", "sln", 0.1, [5]float64{0.33, 0.31, 0.37, 0.30, 0.12}, 0},
		{"s2", "pln", 0.2, [5]float64{0.40, 0.42, 0.43, 0.44, 0.30}, 0.01},
		{"s1", "none", 0, [5]float64{0.20, 0.18, 0.22, 0.10, 0.08}, 0},
		{"s1", "pln", 0.1, [5]float64{0.30, 0.29, 0.31, 0.25, 0.15}, 0.001},
		{"s1", "sln", 0.1, [5]float64{0.29, 0.28, 0.30, 0.25, 0.15}, 0},
		{"s1", "sln", 0.2, [5]float64{0.45, 0.40, 0.30, 0.18, 0.10}, 0},
	} {
		for seed := range 3 {
			sign := float64(seed - 1)
			for i, width := range []int{2, 4, 8, 16, 32} {
				f := fakePairs{scenario: c.scenario, noise: c.noise, effective: c.effective, classes: 10, width: width, seed: seed}
				f.test = c.test[i] + 0.002*sign + c.spread*sign
				f.train, f.floor = 0.25-0.05*float64(i), 0.0
				if i == 4 {
					f.train = 0.0005
				}
				if c.noise == "pln" && c.scenario == "s2" {
					f.floor = 0.005 + 0.001*sign
					f.train += f.floor
				}
				if c.noise == "none" && c.scenario == "s1" {
					f.train = 0.01
				}
				if c.effective == 0.1 && i < 3 {
					f.events = []string{evaluated(10, 1, 0.5, 0.5), evaluated(20, 2, 0.3, 0.3), evaluated(30, 3, 0.3+0.01*float64(i)*(1+sign/2), 0.2), evaluated(40, 4, f.test, f.train)}
				}
				runs = append(runs, f.make(t))
			}
		}
	}
	return runs
}

// floorWorld has training errors of 0.002 + 0.9 (1 + seed/10) times the bound.
func floorWorld(t *testing.T) []*rundir.Run {
	var runs []*rundir.Run
	for seed := range 3 {
		for _, at := range []struct {
			p       float64
			classes int
		}{{0.1, 2}, {0.1, 3}, {0.1, 5}, {0.1, 10}, {0.2, 10}, {0.3, 10}} {
			b := at.p * (1 - at.p) / (2 * float64(at.classes-1))
			f := fakePairs{scenario: "s2", noise: "pln", effective: at.p, classes: at.classes, width: 128, seed: seed, test: -1,
				lower: 0.001 + b, upper: 0.1, train: 0.002 + 0.9*(1+float64(seed)/10)*b}
			if f.floor = f.train - 0.0005; at.classes == 3 {
				f.floor = f.train - 0.002
			}
			runs = append(runs, f.make(t))
			f.negatives, f.upper, f.floor, f.train = "random", 0, 0, 0.0001
			if at.classes == 2 {
				f.train = 0.009 // below a fifth of 0.04655, but not by the interval
			}
			if at.classes == 5 {
				f.train = 0.005 // above a fifth of 0.0131
			}
			runs = append(runs, f.make(t))
		}
		f := fakePairs{scenario: "s2", noise: "sln", effective: 0.1, classes: 10, width: 8, seed: seed, test: -1, train: 0.1}
		runs = append(runs, f.make(t))
		f.order, f.found = "paper", 0.03+0.002*float64(seed)
		runs = append(runs, f.make(t))
	}
	put(t, runs[0].Dir, "partition.json", `{"schema": "tercet.partition/1", "classes": 2, "per_class": 1500, "p": 0.1, "negatives": "same-index", "seed": 0, "pairs": 6000, "errors": [270, 260, 280], "proven": 3, "multicut": {"value": 0.045}}`)
	return runs
}

// streamWorld has runs that see each pair once, and runs that see pairs again.
func streamWorld(t *testing.T) []*rundir.Run {
	var runs []*rundir.Run
	for seed := range 3 {
		off := 0.01 * float64(seed-1)
		for _, f := range []struct {
			scenario, noise string
			effective, test float64
			online          bool
			spread          float64
		}{
			{"s1", "none", 0, 0.1, true, 0}, {"s1", "pln", 0.1, 0.2, true, 0}, {"s1", "sln", 0.1, 0.25, true, 0},
			{"s1", "none", 0, 0.105, false, 0}, {"s2", "none", 0, 0.15, false, 0},
			{"s1", "pln", 0.1, 0.3, false, 1}, {"s2", "pln", 0.1, 0.2, false, 1}, {"s2", "sln", 0.1, 0.2, false, 0},
		} {
			g := fakePairs{scenario: f.scenario, noise: f.noise, effective: f.effective, classes: 10, width: 200, seed: seed, test: f.test, train: 0.5}
			g.events = []string{evaluated(10, 1, 0.5, 0.5), evaluated(20, 2, f.test+off+f.spread*off, 0.5)}
			if f.online {
				g.labels = []rundir.Label{label("batch.redraw", "true")}
				g.events = append(g.events, evaluated(35, 3, f.test/2+off, 0.5))
			}
			runs = append(runs, g.make(t))
		}
		for _, width := range []int{100, 200} { // of another study
			f := fakePairs{scenario: "s1", noise: "none", classes: 10, width: width, seed: seed, test: 0.4, train: 0.5, labels: []rundir.Label{label("optimizer.lr", "0.5")}}
			f.events = []string{evaluated(10, 1, 0.5, 0.5), evaluated(20, 2, 0.4, 0.5)}
			runs = append(runs, f.make(t))
		}
	}
	return runs
}

// goldens are the files of testdata with the table and the runs that they are of.
var goldens = []struct {
	file, table string
	runs        func(*testing.T) []*rundir.Run
}{
	{"clustering", "clustering", clusterWorld}, {"clustering-differences", "clustering-differences", clusterWorld},
	{"noise-robust", "noise-robust", robustWorld}, {"noise-attack", "noise-attack", robustWorld},
	{"pairs", "pairs", widthWorld}, {"double-descent", "double-descent", widthWorld}, {"pair-epochs", "pair-epochs", widthWorld},
	{"claims-widths", "pair-claims", widthWorld}, {"claims-floors", "pair-claims", floorWorld}, {"claims-streams", "pair-claims", streamWorld},
	{"gap", "gap", gapWorld}, {"network-stability", "network-stability", movedWorld},
	{"pair-floor", "pair-floor", floorWorld}, {"online-offline", "online-offline", streamWorld},
}
