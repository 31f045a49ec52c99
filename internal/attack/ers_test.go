package attack

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"tercet/internal/attack/retrieval"
)

// The four check rows of the specification, from tables 7, 8 and 11 of the
// supplement: CA+ CA- QA+ QA- TMA ES:D ES:R LTM GTM GTT, ERS.
func TestERSOfPublishedRows(t *testing.T) {
	for name, row := range map[string][11]float64{
		"CUB HM[S,gLGA] 8":   {12.7, 46.4, 11.6, 39.9, .567, .783, 16.8, 11.9, 27.9, 1.4, 32.4},
		"SOP HM&ICS l=.5, 8": {34.9, 3.8, 36.7, 2.3, .879, .093, 35.3, 36.5, 35.2, 49.1, 60.1},
		"CUB N/A":            {0, 100, 0, 99.9, .883, 1.762, 0, 0, 14.1, 0, 3.8},
		"CUB ACT[R] 8":       {13.7, 46.8, 12.6, 39.3, .547, .902, 13.6, 9.8, 21.9, 1.3, 31.3},
	} {
		keys := Keys([]string{"CA+", "CA-", "QA+", "QA-", "TMA", "ES", "LTM", "GTM", "GTT"})
		got := RobustnessScore(func(key string) float64 {
			v := row[slices.Index(keys, key)]
			if key != "TMA" && key != "ES:D" {
				v /= 100
			}
			return v
		})
		// One decimal as printed, and the rounding of its inputs.
		if math.Abs(100*got-row[10]) > 0.06 {
			t.Errorf("%s: %.3f, the paper has %v", name, 100*got, row[10])
		}
	}
}

func TestKeys(t *testing.T) {
	suite, err := Suite("ers")
	if err != nil || fmt.Sprint(Keys(suite)) != "[CA+ CA- QA+ QA- TMA ES:D ES:R LTM GTM GTT ERS]" {
		t.Error(suite, err)
	}
	if got := fmt.Sprint(Keys([]string{"SPQA-", "ES"})); got != "[SPQA- SPQA-:GT ES:D ES:R]" {
		t.Error(got)
	}
	for _, term := range ersTerms {
		if LowerIsRobust(term.key) != (term.slope < 0) {
			t.Errorf("%s: ERS says otherwise", term.key)
		}
	}
	if _, err := Suite("all"); err == nil {
		t.Error("an unknown suite")
	}
	// The keys are those that methods give.
	s, labels := newSet(1, 800, 4) // SPQA- takes all its samples from the nearest 1 %
	g, err := retrieval.NewGallery(galleryOf(newModel(2, 6, 8, 3), s), labels)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range Attacks() {
		for _, v := range Variants() {
			m, err := NewMethod(name, g, v, MethodOptions{})
			if err != nil {
				t.Errorf("%s %s: %v", name, v, err)
				continue
			}
			if want := Keys([]string{name}); !slices.Equal(m.Scores(), want) {
				t.Errorf("%s: scores %v, described %v", name, m.Scores(), want)
			}
		}
	}
}
