package verdict

import (
	"math"
	"testing"
)

func TestOf(t *testing.T) {
	for _, c := range []struct {
		name      string
		claim     Claim
		low, high float64
		want      string
	}{
		{"above", Above(0), 0.1, 0.2, Supported},
		{"an end at the value is not above it", Above(0), 0, 0.2, Inconclusive},
		{"holds the value", Above(0), -0.1, 0.2, Inconclusive},
		{"below", Above(0), -0.2, -0.1, Contradicted},
		{"rounding is no difference", Above(0), 1e-17, 1e-17, Inconclusive},
		{"small", Below(0.001), -0.0001, 0.0009, Supported},
		{"a small mean with a wide interval", Below(0.001), -0.004, 0.005, Inconclusive},
		{"large", Below(0.001), 0.002, 0.003, Contradicted},
		{"exactly", Within(0, 0.02), 0, 0, Supported},
		{"equal within the margin", Within(0, 0.02), -0.02, 0.01, Supported},
		{"different, but by less than the margin", Within(0, 0.02), 0.005, 0.01, Supported},
		{"holds the value and more than the margin", Within(0, 0.02), -0.075, 0.022, Inconclusive},
		{"elsewhere", Within(0, 0.02), 0.021, 0.03, Contradicted},
		{"a slope in its range with an end outside", Between(0.35, 0.65), 0.33, 0.394, Inconclusive},
		{"at least", AtLeast(1), 1, 2, Supported},
		{"at most", AtMost(1), 1.5, 2, Contradicted},
		{"beyond", Beyond(0, 0.01), -0.03, -0.011, Supported},
		{"no further than the margin", Beyond(0, 0.01), -0.01, 0.005, Contradicted},
		{"across the margin", Beyond(0, 0.01), 0.005, 0.02, Inconclusive},
		{"on both sides", Beyond(0, 0.01), -0.02, 0.02, Inconclusive},
		{"no number", Above(0), math.NaN(), 1, Inconclusive},
	} {
		if got := c.claim.Of(&[2]float64{c.low, c.high}); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
	if got := Above(0).Of(nil); got != Inconclusive {
		t.Errorf("without an interval: %s", got)
	}
}

// Every claim can be supported and contradicted: no rule is one that cannot fail.
func TestEveryClaimCanFail(t *testing.T) {
	for i, c := range []Claim{Above(1), Below(1), AtLeast(1), AtMost(1), Between(1, 2), Within(1, 0.5), Beyond(1, 0.5)} {
		got := map[string]bool{}
		for _, at := range []float64{-100, 1, 1.5, 100} {
			got[c.Of(&[2]float64{at, at + 0.1})] = true
		}
		if !got[Supported] || !got[Contradicted] {
			t.Errorf("claim %d: %v", i, got)
		}
	}
}

func TestAll(t *testing.T) {
	const s, c, i = Supported, Contradicted, Inconclusive
	for _, x := range []struct {
		parts []string
		want  string
	}{{nil, i}, {[]string{s, s}, s}, {[]string{s, i}, i}, {[]string{i, s}, i}, {[]string{s, i, s}, i}, {[]string{s, i, c}, c}, {[]string{c, s}, c}} {
		if got := All(x.parts...); got != x.want {
			t.Errorf("%v: %s, want %s", x.parts, got, x.want)
		}
	}
	for _, v := range []string{s, c, i} {
		if got := OfAnswer(Answer(v)); got != v {
			t.Errorf("%s became %s", v, got)
		}
	}
}
