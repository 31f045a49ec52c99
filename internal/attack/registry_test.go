package attack

import (
	"slices"
	"strings"
	"testing"
)

// The order of tables is that of the papers, then by name; what help and tables say
// of the suite's scores is what the papers say.
func TestRegistry(t *testing.T) {
	suite := strings.Fields("CA+ CA- QA+ QA- TMA ES LTM GTM GTT")
	if all := Attacks(); !slices.Equal(all[:9], suite) || !slices.IsSorted(all[9:]) {
		t.Error(all)
	}
	suite = append(suite, "SPQA+", "SPQA-")
	of := func(names []string) string { // the attacks of the papers among them
		return strings.Join(slices.DeleteFunc(names, func(n string) bool { return !slices.Contains(suite, n) }), " ")
	}
	for o, want := range map[Option]string{
		W: "CA+ CA-", M: "QA+ QA- SPQA+ SPQA-", Near: "CA+ QA+", Pure: "CA+ CA- QA+ QA-",
		XiFixed: "SPQA+ SPQA-", XiScale: "SPQA+ SPQA-", Draws: "CA+ CA- QA+ QA- TMA SPQA+ SPQA-",
	} {
		if got := of(Users(o)); got != want {
			t.Errorf("%s: %s, want %s", o, got, want)
		}
	}
	for key, want := range map[string]Score{
		"TMA": {Unit: Cosine, Robust: Lower}, "ES:D": {Unit: Distance, Robust: Lower}, "ES:R": {Unit: Fraction, Robust: Higher, Recall: true},
		"SPQA-": {Unit: Fraction, Robust: Lower}, "SPQA-:GT": {Unit: Fraction, Robust: Neither}, "ERS": {Unit: Fraction, Robust: Higher, Recall: true},
	} {
		if s, ok := ScoreNamed(key); !ok || s.Unit != want.Unit || s.Robust != want.Robust || s.Recall != want.Recall {
			t.Errorf("%s: %+v", key, s)
		}
	}
	if Shown([]string{"CA+", "GTM"}) != "CA+" || Shown([]string{"CA+", "ES"}) != "ES" {
		t.Error("another attack is shown")
	}
	for _, s := range Scores() {
		if !slices.Contains(Panels(), s.Panel) {
			t.Errorf("no panel shows %s", s.Key)
		}
	}
}

func TestIncompleteDescriptionsPanic(t *testing.T) {
	n := len(registered)
	defer func() {
		if recover() == nil || len(registered) != n {
			t.Error("registered")
		}
	}()
	register(Attack{Name: "nothing"})
}

// Captions say what became of a query.
func TestAchieved(t *testing.T) {
	for _, tc := range []struct {
		name       string
		clean, now float64
		want       string
	}{
		{"LTM", 1, 1, "still right"}, {"GTM", 0, 1, "now right"}, {"LTM", 1, 0, "wrong"}, {"LTM", 0, 0, "wrong before too"},
		{"GTT", 1, 1, "still among 4"}, {"GTT", 1, 0, "gone"}, {"ES", 0, 1.234, "shift 1.23"}, {"TMA", 0.5, 0.75, "0.50 to 0.75"}, {"QA+", 0.5, 0.01, "50.0 to 1.0 %"},
	} {
		a, err := Named(tc.name)
		if got := a.Achieved(tc.clean, tc.now); err != nil || got != tc.want {
			t.Errorf("%s: %q, want %q", tc.name, got, tc.want)
		}
	}
}
