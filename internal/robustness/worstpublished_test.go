package robustness

import (
	"math"
	"testing"

	"tercet/internal/attack/worst"
	"tercet/internal/record"
)

// Of the queries 1, 2 and 3, which both have, ES:R leaves one right and GTM two; the
// ensemble leaves two: a third more than the best single attack.
func TestWorstCaseAgainstSingleAttacks(t *testing.T) {
	t.Parallel()
	source := record.Source{Config: "c", Fingerprint: "f", Step: 3}
	w := &record.Worst{Source: source, Options: record.WorstOptions{Norm: "linf", Eps: 0.25}, Queries: 4, Items: record.Pack([]float64{2, 1, 3, 9}),
		Galleries: []record.WorstGallery{{Gallery: worst.Full, Broken: record.Pack([]float64{0, 0, 3, 4}), L2: record.Pack([]float64{0, 0, 1, 1})}}}
	a := &record.Attack{Source: source, Options: record.AttackOptions{Norm: "linf", Eps: 0.25}, Queries: 4, Items: record.Pack([]float64{1, 2, 3, 4}),
		Values: map[string]record.PackedScores{"fixed": {"ES:R": record.Pack([]float64{1, 0, 0, 1}), "GTM": record.Pack([]float64{1, 1, 0, 0}), "ES:D": record.Pack([]float64{0, 0, 0, 0})}}}
	c, is, err := againstPublished(a, w)
	if err != nil || !is || math.Abs(c.Value-1.0/3) > 1e-12 || c.Verdict() != worst.Warn {
		t.Errorf("%+v %v %v", c, is, err)
	}
	for name, change := range map[string]func(*record.Attack){
		"larger ball": func(a *record.Attack) { a.Options.Eps = 0.5 }, "other norm": func(a *record.Attack) { a.Options.Norm = "l2" },
		"other step": func(a *record.Attack) { a.Source.Step = 4 }, "no values": func(a *record.Attack) { a.Values = nil },
		"other queries": func(a *record.Attack) { a.Items = record.Pack([]float64{5, 6, 7, 8}) },
	} {
		other := *a
		change(&other)
		if _, is, err := againstPublished(&other, w); is || err != nil {
			t.Errorf("%s: %v %v", name, is, err)
		}
	}
	if _, is, err := againstPublished(nil, w); is || err != nil {
		t.Error(is, err)
	}
}
