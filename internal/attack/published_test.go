package attack

import (
	"encoding/json"
	"math"
	"os"
	"testing"

	"tercet/internal/engine/adversary"
	"tercet/internal/engine/array"
)

// publishedCase is a case of testdata/published.json, which
// testdata/scripts/attack_golden.py made with PyTorch 1.13.1.
type publishedCase struct {
	D           int
	X           []float32
	Labels      []int32
	Items       []int
	Z, Previous []float32

	GTMTargets    []int32     `json:"gtm_targets"`
	GTM           []float64   `json:"gtm"`
	GTMGrad       [][]float64 `json:"gtm_grad"`
	LTM           []float64   `json:"ltm"`
	LTMGrad       [][]float64 `json:"ltm_grad"`
	LTMClean      []float64   `json:"ltm_clean"`
	LTMCleanGrad  [][]float64 `json:"ltm_clean_grad"`
	ESFirst       []float64   `json:"es_first"`
	ESFirstGrad   [][]float64 `json:"es_first_grad"`
	ES            []float64   `json:"es"`
	ESGrad        [][]float64 `json:"es_grad"`
	ESStart       []float64   `json:"es_start"`
	ESStartGrad   [][]float64 `json:"es_start_grad"`
	ESD           []float64   `json:"es_d"`
	TMATargets    []int32     `json:"tma_targets"`
	TMA           []float64   `json:"tma"`
	TMAGrad       [][]float64 `json:"tma_grad"`
	TMAScore      []float64   `json:"tma_score"`
	Recall        []float64   `json:"recall"`
	RecallOfClean []float64   `json:"recall_clean"`
}

func TestPublishedAgainstPyTorch(t *testing.T) {
	text, err := os.ReadFile("testdata/published.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []publishedCase
	if err := json.Unmarshal(text, &cases); err != nil || len(cases) != 3 {
		t.Fatal(err, len(cases))
	}
	for c, p := range cases {
		rows := func(data []float32) *array.Array {
			a, err := array.Of(data, len(data)/p.D, p.D)
			if err != nil {
				t.Fatal(err)
			}
			return a
		}
		x, z, previous := rows(p.X), rows(p.Z), rows(p.Previous)
		g, clean := mustGallery(t, x, p.Labels), array.New(len(p.Items), p.D)
		for i, item := range p.Items {
			copy(clean.Row(i), x.Row(item))
		}
		close := func(what string, got, want []float64) {
			t.Helper()
			for i := range want {
				if len(got) != len(want) || math.Abs(got[i]-want[i]) > 1e-9*(1+math.Abs(want[i])) {
					t.Errorf("case %d, %s of query %d: %v, want %v", c, what, i, got[i], want[i])
				}
			}
		}
		goal := func(what string, m Method, at *array.Array, want []float64, grad [][]float64) {
			t.Helper()
			per, got := evalAll(t, m, at)
			close(what, per, want)
			for i := range grad {
				for k, w := range grad[i] {
					if v := float64(got.Row(i)[k]); math.Abs(v-w) > 1e-6*(1+math.Abs(w)) {
						t.Errorf("case %d, %s, query %d: gradient %v in coordinate %d, want %v", c, what, i, v, k, w)
					}
				}
			}
		}
		aimed := func(name string) Method {
			m := mustMethod(t, name, g, Published, MethodOptions{})
			mustAim(t, m, &Batch{Items: p.Items, Clean: clean}, 0)
			return m
		}

		gtm := aimed("GTM")
		for i, want := range p.GTMTargets {
			if got := gtm.Targets(i)[0]; got != want {
				t.Errorf("case %d, query %d: GTM's target is %d, want %d", c, i, got, want)
			}
		}
		goal("GTM", gtm, z, p.GTM, p.GTMGrad)
		ltm := aimed("LTM")
		goal("LTM", ltm, z, p.LTM, p.LTMGrad)
		goal("LTM, clean", ltm, clean, p.LTMClean, p.LTMCleanGrad)
		es := aimed("ES")
		es.(adversary.Stepper).Step(0)
		goal("ES, step 0", es, z, p.ESFirst, p.ESFirstGrad)
		goal("ES, step 0, clean", es, clean, p.ESStart, p.ESStartGrad)
		es.(adversary.Stepper).Step(1)
		goal("ES, step 1", es, z, p.ES, p.ESGrad)
		close("ES:D", scoresOf(es, z, previous)[0], p.ESD)
		targeted := aimed("TMA").(*tma)
		copy(targeted.targets, p.TMATargets)
		goal("TMA", targeted, z, p.TMA, p.TMAGrad)
		close("TMA's score", scoresOf(targeted, z, previous)[0], p.TMAScore)
		close("ES:R", scoresOf(es, z, previous)[1], p.Recall)
		close("LTM's score", scoresOf(ltm, z, previous)[0], p.Recall)
		close("GTM's score", scoresOf(gtm, z, previous)[0], p.Recall)
		close("clean ES:R", scoresOf(es, clean, clean)[1], p.RecallOfClean)
	}
}
