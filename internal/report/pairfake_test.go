package report

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// fakePairs is a run on a pair graph, written by hand.
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
	labels              []Label
	noPairs             bool
}

func (f fakePairs) make(t *testing.T, folder string) *RunDir {
	t.Helper()
	if f.negatives == "" {
		f.negatives = "same-index"
	}
	if f.order == "" {
		f.order = "shuffled"
	}
	if f.found == 0 {
		f.found = f.effective
	}
	if f.status == "" {
		f.status = "finished"
	}
	var extra strings.Builder
	for _, l := range f.labels {
		fmt.Fprintf(&extra, "-%s-%s", l.Key, l.Value)
	}
	dir := filepath.Join(folder, fmt.Sprintf("%s-%s-%s-%s-%v-k%d-w%d%s_seed-%d", f.scenario, f.negatives, f.order, f.noise, f.effective, f.classes, f.width, strings.ReplaceAll(extra.String(), ".", "-"), f.seed))
	noise := ""
	if f.noise != "none" {
		noise = fmt.Sprintf(`"noise": {"kind": %q, "wanted": %v, "found": %v, "effective": %v},`, f.noise, f.effective, f.effective, f.effective)
	}
	params := 784*f.width + f.width + 2*(f.width*f.width+f.width)
	put(t, dir, "manifest.json", fmt.Sprintf(`{"schema": "tercet.run/1", "name": "x", "version": "v1", "status": %q, "message": "stopped. Try less.", "seed": %d,
 "data": {"name": "mnist", %s "graph": {"scenario": %q, "negatives": %q, "order": %q, "pairs": 6000, "effective": %v}, "train": {"items": 60000, "classes": %d}},
 "model": {"name": "mlp", "parameters": %d}, "steps": 94, "steps_planned": 100}`, f.status, f.seed, noise, f.scenario, f.negatives, f.order, f.found, f.classes, params))
	if !f.noPairs {
		test, theorem := "", ""
		if f.test >= 0 {
			test = fmt.Sprintf(`"test": {"pairs": 9000, "error": %v},`, f.test)
		}
		if f.upper > 0 {
			theorem = fmt.Sprintf(`"theorem": {"e_sim": 0.001, "lower": %v, "e_diff": %v},`, f.lower-0.001, f.upper-0.001)
		}
		put(t, dir, "pairs.json", fmt.Sprintf(`{"schema": "tercet.pairs/1", "parameters": %d, "steps": 94, %s %s "train": {"pairs": 6000, "error": %v}, "train_clean": {"pairs": 6000, "error": %v}, "floor_duplicates": %v}`,
			params, test, theorem, f.train, f.clean, f.floor))
	}
	if f.events != nil {
		put(t, dir, "events.jsonl", strings.Join(f.events, "\n")+"\n")
	}
	r, err := ReadRun(dir)
	if err != nil {
		t.Fatal(err)
	}
	r.Labels = append([]Label{{"name", filepath.Base(dir)}, {"seed", fmt.Sprint(f.seed)}, {"data.name", "mnist"}, {"noise.kind", f.noise}, {"noise.effective", fmt.Sprint(f.effective)},
		{"model.name", "mlp"}, {"model.width", fmt.Sprint(f.width)}, {"batch.scenario", f.scenario}, {"batch.negatives", f.negatives}, {"batch.order", f.order}, {"data.classes", fmt.Sprint(f.classes)}}, f.labels...)
	return r
}

// evaluated is an event of an evaluation.
func evaluated(step int, epoch, test, train float64) string {
	return fmt.Sprintf(`{"event":"eval","step":%d,"epoch":%v,"metrics":{"map@r":0.5,"pair_accuracy":%v,"pair_train_accuracy":%v,"recall@1":0.9}}`, step, epoch, 1-test, 1-train)
}
