package names

import "testing"

func TestScoresHaveShortNames(t *testing.T) {
	for name, want := range map[string]string{"r@1": "recall@1", "R@10": "recall@10", "recall@1": "recall@1", "ES:R": "ES:R", "ERS": "ERS", "": ""} {
		if got := Score(name); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}
