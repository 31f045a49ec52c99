package study

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"tercet/internal/rundir"
)

// fakeLogged is a run of HM whose log has these losses at every fifth of its 100 steps, and
// after the first.
func fakeLogged(t *testing.T, seed int, losses ...float64) *rundir.Run {
	t.Helper()
	r := fakeDefended(t, 0, seed, "finished", 0.3)
	r.Labels = append(r.Labels, label("loss.margin", 0.2))
	lines := []string{`{"event":"start","step":0}`, `{"event":"step","step":1,"loss":0.25}`, `{"event":"step","step":20,"loss":9}`} // done again
	for i, v := range losses {
		lines = append(lines, fmt.Sprintf(`{"event":"step","step":%d,"loss":%v,"crafted":{"linf":0.1,"hardness":-0.5}}`, 20*(i+1), v))
	}
	put(t, r.Dir, "events.jsonl", strings.Join(append(lines, `{"event":"epoch","step":100,"loss":0.9}`, `{"event":"st`), "\n"))
	return r
}

// The share of the training after which all logged losses are below the margin, by hand: the
// last one at or above it was at step 1, 20, 60 or 100 of 100. A step that was done again
// counts once; an epoch's loss is no step's.
func TestLossSettles(t *testing.T) {
	t.Chdir(t.TempDir())
	settled := func(runs ...*rundir.Run) Estimate {
		return compare(t, "manipulation-loss", runs).Rows[0].Scores["settled"]
	}
	for i, c := range []struct {
		losses []float64
		want   float64
	}{
		{[]float64{0.1, 0.1, 0.15, 0.1, 0.1}, 0.01}, {[]float64{0.2, 0.1, 0.1, 0.1, 0.1}, 0.2}, {[]float64{0.1, 0.1, 0.3, 0.1, 0.1}, 0.6},
		{[]float64{0.1, 0.1, 0.1, 0.1, 0.21}, 1},
	} {
		if e := settled(fakeLogged(t, i, c.losses...)); e.Value != c.want {
			t.Errorf("%v: settled at %v, want %v", c.losses, e.Value, c.want)
		}
	}
	early, late := []float64{0.1, 0.1, 0.1, 0.1, 0.1}, []float64{0.1, 0.1, 0.3, 0.1, 0.1}
	for _, c := range []struct {
		losses [3][]float64
		want   string
	}{{[3][]float64{early, early, early}, ",0.1,supported"}, {[3][]float64{late, late, late}, ",contradicted"}, {[3][]float64{early, late, early}, ",inconclusive"}} {
		var runs []*rundir.Run
		for seed, losses := range c.losses {
			runs = append(runs, fakeLogged(t, seed, losses...))
		}
		var b bytes.Buffer
		if err := compare(t, "manipulation-loss", runs).Layout(true).Write(&b, "csv"); err != nil {
			t.Fatal(err)
		}
		if verdict := c.want[strings.LastIndex(c.want, ","):]; !strings.Contains(b.String(), verdict+"\n") {
			t.Errorf("%v: want %s in\n%s", c.losses, verdict, b.String())
		}
	}
	last := compare(t, "manipulation-loss", []*rundir.Run{fakeLogged(t, 0, early...)}).Rows[0].Scores
	if last["first"].Value != 0.25 || last["last"].Value != 0.1 || last["gamma"].Value != 0.2 {
		t.Errorf("%+v", last)
	}
	r := fakeDefended(t, 0, 7, "finished", 0.3) // without a log
	if _, ok := compare(t, "manipulation-loss", []*rundir.Run{r}).Rows[0].Scores["settled"]; ok {
		t.Error("a run without a log has a value")
	}
	put(t, r.Dir, "events.jsonl", "{\"event\":\"step\",\"step\":1,\"loss\":\n{}\n")
	r.Labels = append(r.Labels, label("loss.margin", 0.2))
	if _, err := BuiltInTable("manipulation-loss").Compare([]*rundir.Run{r}); !errors.Is(err, rundir.ErrRun) || !strings.Contains(err.Error(), "events.jsonl:1") {
		t.Errorf("damaged: %v", err)
	}
	for text, want := range map[string]string{
		"{of: x, by: last}": "series.of is", "{of: loss, by: x}": "series.by is", "{of: loss, by: settled, limit: nothing}": "is neither",
	} {
		spec := "title: x\ntables:\n  - name: a\n    fields: [{name: data, from: manifest.data.name}]\n    rows: [data]\n    scores: [{name: s, series: " + text + "}]\n    columns: [data, s]\n"
		if _, err := Read([]byte(spec), "f.yaml", "f"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// What offline training loses to online in one set-up less that of another, by hand: seeds
// differ by 2.8, 3.0 and 3.2 points, 3 ±0.5, which is beyond a point; 0.1 ±0.5 is within.
func TestOnlineInSetups(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, c := range []struct {
		more float64
		want string
	}{{0.03, "supported"}, {0.001, "contradicted"}, {0.01, "inconclusive"}} {
		var runs []*rundir.Run
		for seed := range 3 {
			s := float64(seed - 1)
			for loss, gap := range map[string]float64{"contrastive": 0.05 + 0.01*s, "cosine": 0.05 + c.more + 0.012*s} {
				for _, noise := range []string{"none", "sln"} {
					f := fakePairs{scenario: "s1", noise: noise, classes: 10, width: 200, seed: seed, test: 0.1, train: 0.5, labels: []rundir.Label{label("loss.name", loss)}}
					if noise == "sln" {
						f.effective = 0.1
					}
					f.events = []string{evaluated(10, 1, 0.5, 0.5), evaluated(20, 2, 0.1+gap, 0.5)}
					runs = append(runs, f.make(t))
					f.events = []string{evaluated(10, 1, 0.5, 0.5), evaluated(30, 2, 0, 0.5)} // at step 20 0.25
					f.labels = append(f.labels, label("batch.redraw", "true"))
					runs = append(runs, f.make(t))
				}
			}
		}
		d := compare(t, "online-claims", runs)
		var clean, noisy []Quantity
		for _, q := range d.Claims {
			if q.Of == "s1, no noise" {
				clean = append(clean, q)
			} else if q.Of != "" {
				noisy = append(noisy, q)
			}
		}
		if len(clean) != 1 || len(noisy) != 1 || noisy[0].Verdict != "" {
			t.Fatalf("%+v", d.Claims)
		}
		meanIs(t, clean[0].What, clean[0].Estimate, c.more, 0.2*halfOfTenth/10, 3)
		if clean[0].Verdict != c.want || clean[0].What != "offline - online, mlp and cosine less mlp and contrastive" {
			t.Errorf("%+v, want %s", clean[0], c.want)
		}
	}
}
