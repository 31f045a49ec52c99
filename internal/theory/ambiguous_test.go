package theory

import (
	"errors"
	"math"
	"testing"

	"tercet/internal/testutil"
)

// At beta 0.8, gamma 0.9, scale and margin 1 and classes 3 apart, a simulation of 10^6 draws
// in NumPy gave a loss of 0.785 for what equation 3 keeps and 0.943 for what it leaves out, and
// gradients of 7.3 and 3.3 for triplets with both points of the other and of the anchor's class.
func TestAmbiguousAgainstNumPy(t *testing.T) {
	t.Parallel()
	a, err := NewAmbiguous(AmbiguousOptions{Beta: 0.8, Gamma: 0.9, Margin: 1, Scale: 1, Apart: 3, Draws: 200000})
	if err != nil {
		t.Fatal(err)
	}
	testutil.Near(t, "loss kept", a.Kept.Loss.Value, 0.785, 0.02)
	testutil.Near(t, "loss left out", a.Dropped.Loss.Value, 0.943, 0.02)
	sum, weighted := 0.0, 0.0
	for _, k := range a.Kinds {
		sum += k.Probability
		if k.Positive != k.Negative {
			weighted += k.Probability * k.Gradient.Value
			want := 7.3 // both of the other class
			if k.Positive {
				want = 3.3
			}
			testutil.Near(t, "gradient of ambiguous triplets", k.Gradient.Value, want, 0.15)
		}
	}
	testutil.Near(t, "probabilities", sum, 1, 1e-12)
	testutil.Near(t, "left out, by kinds", weighted, a.Dropped.Gradient.Value, 1e-9)
	if !(a.Dropped.Gradient.CI95[0] > 0) {
		t.Errorf("left out: %+v", a.Dropped)
	}
}

// Where no |D| exceeds the margin, the ambiguous part is 0 but for the draws, and both sides
// of the hinge are the line: E 2 D / s. Its interval holds 0, and triplets that are right
// have the gradient 2 s E[|a-p|^2 - |a-n|^2] = -2 s apart^2, by the moments of normal numbers.
func TestAmbiguousWithinTheMargin(t *testing.T) {
	t.Parallel()
	const s, apart, draws = 0.01, 3.0, 100000
	a, err := NewAmbiguous(AmbiguousOptions{Beta: 0.7, Gamma: 0.9, Margin: 1, Scale: s, Apart: apart, Draws: draws, Seed: 2})
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range a.Kinds {
		if k.Largest > 1 {
			t.Fatalf("%+v: beyond the margin", k)
		}
		want := 0.0
		switch {
		case k.Positive && k.Negative:
			want = -2 * s * apart * apart
		case !k.Positive && !k.Negative:
			want = 2 * s * apart * apart
		}
		half := (k.Gradient.CI95[1] - k.Gradient.CI95[0]) / 2
		testutil.Near(t, "gradient", k.Gradient.Value, want, 2.5*half)
	}
	half := (a.Dropped.Gradient.CI95[1] - a.Dropped.Gradient.CI95[0]) / 2
	testutil.Near(t, "left out", a.Dropped.Gradient.Value, 0, 2.5*half)
}

// Numbers that are none are mistakes of input.
func TestAmbiguousErrors(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*AmbiguousOptions){
		"beta": func(o *AmbiguousOptions) { o.Beta = 1.2 }, "gamma": func(o *AmbiguousOptions) { o.Gamma = math.NaN() },
		"margin": func(o *AmbiguousOptions) { o.Margin = 0 }, "scale": func(o *AmbiguousOptions) { o.Scale = -1 },
		"apart": func(o *AmbiguousOptions) { o.Apart = math.Inf(1) }, "draws": func(o *AmbiguousOptions) { o.Draws = 1 },
	} {
		o := AmbiguousOptions{Beta: 0.8, Gamma: 0.9, Margin: 1, Scale: 1, Apart: 3, Draws: 10}
		change(&o)
		if _, err := NewAmbiguous(o); !errors.Is(err, ErrInput) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
