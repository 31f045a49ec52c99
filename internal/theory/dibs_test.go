package theory

import (
	"errors"
	"math"
	"strconv"
	"strings"
	"testing"

	"tercet/internal/record"
	"tercet/internal/testutil"
)

// Made by exact fractions in Python from eqs. 7 and 8.
var exactErrors = []struct {
	classes, perClass     int
	p, eSim, lower, eDiff float64
}{
	{10, 300, 0.05, 5.461324599389698e-09, 0.002638888888888889, 0.0035243656964444926},
	{10, 300, 0.1, 1.0410709466026634e-15, 0.005, 0.0067101718976987764},
	{10, 300, 0.2, 1.0565890622713305e-30, 0.008888888888888889, 0.012152314428267481},
	{5, 600, 0.1, 1.950891688548298e-29, 0.01125, 0.014926941491967084},
	{3, 1000, 0.1, 9.71039584290362e-48, 0.0225, 0.02927115987460815},
	{2, 1500, 0.1, 1.2837830989510607e-70, 0.045, 0.05642633228840126},
	{2, 200, 0.2, 5.186894461101241e-21, 0.08, 0.09523809523809523},
	{10, 20, 0.1, 0.00675425858836496, 0.005, 0.006710171740152208},
	{5, 20, 0.1, 0.00675425858836496, 0.01125, 0.01492694114150089},
	{3, 6, 0.2, 0.032768, 0.04, 0.051156928},
	{10, 300, 0.3, 7.251122185874808e-48, 0.011666666666666667, 0.01642534949950302},
	{10, 300, 0.4, 9.295095589866113e-68, 0.013333333333333334, 0.019524691071418646},
	{10, 300, 0.5, 2.4545467326488633e-91, 0.013888888888888888, 0.021350908112964438},
	{5, 600, 0.2, 8.931043572091276e-60, 0.02, 0.026672247023809523},
	{10, 30, 0.1, 0.0023550643486231226, 0.005, 0.006710171897645131},
	{10, 10, 0.1, 0.01937102445, 0.005, 0.006709709214412943},
	{200, 3, 0.5, 0.0625, 0.000628140703517588, 0.0010342307138305354},
	{60, 2, 1.0 / 3, 0.1111111111111111, 0.0018832391713747645, 0.002743923111650542},
}

func dibs(t *testing.T, classes, perClass int, p float64) record.DIBSBounds {
	t.Helper()
	b, err := DIBS(classes, perClass, p)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestDIBSAgreesWithFractions(t *testing.T) {
	for _, w := range exactErrors {
		b := dibs(t, w.classes, w.perClass, w.p)
		// (1-P)^(N_c-1) carries N_c times the rounding of 1-P.
		if !testutil.WithinRelative(b.ESim, w.eSim, 1e-12) || !testutil.WithinRelative(b.Lower, w.lower, 1e-15) || !testutil.WithinRelative(b.EDiff, w.eDiff, 1e-14) {
			t.Errorf("%d x %d, P=%v: %+v, want %v, %v, %v", w.classes, w.perClass, w.p, b, w.eSim, w.lower, w.eDiff)
		}
		if b.AbsoluteLower != b.ESim+b.Lower || b.AbsoluteUpper != b.ESim+b.EDiff {
			t.Errorf("%d x %d, P=%v: absolute bounds %v, %v", w.classes, w.perClass, w.p, b.AbsoluteLower, b.AbsoluteUpper)
		}
		if has := b.Corollary != nil; has != (w.classes == 2) || has && *b.Corollary != b.Lower {
			t.Errorf("%d classes: corollary %v", w.classes, b.Corollary)
		}
	}
}

// The rows of the reference's table, to the digits that it prints.
func TestDIBSPrintsTheTable(t *testing.T) {
	for _, w := range []struct {
		classes, perClass            int
		p                            float64
		eSim, lower, eDiff           string
		absoluteLower, absoluteUpper string
	}{
		{10, 300, 0.05, "5.5e-9", ".002639", ".003524", "", ""},
		{10, 300, 0.1, "1.0e-15", ".005000", ".006710", "", ""},
		{10, 300, 0.2, "", ".008889", ".012152", "", ""},
		{5, 600, 0.1, "", ".011250", ".014927", "", ""},
		{3, 1000, 0.1, "", ".022500", ".029271", "", ""},
		{2, 1500, 0.1, "", ".045000", ".056426", "", ""},
		{2, 200, 0.2, "", ".080000", ".095238", "", ""},
		{10, 20, 0.1, ".0068", ".0050", ".0067", "", ""},
		{5, 20, 0.1, ".0068", ".01125", ".0149", "", ""},
		{3, 6, 0.2, ".0328", ".0400", ".0512", "", ""},
		{10, 300, 0.3, "", ".011667", ".016425", "", ""},
		{10, 300, 0.4, "", ".013333", ".019525", "", ""},
		{10, 300, 0.5, "", ".013889", ".021351", "", ""},
		{5, 600, 0.2, "", ".0200", ".02667", "", ""},
		{10, 30, 0.1, ".002355", "", "", ".007355", ".009065"},
		{10, 10, 0.1, ".01937", "", "", ".02437", ".02608"},
	} {
		b := dibs(t, w.classes, w.perClass, w.p)
		for _, c := range []struct {
			name string
			got  float64
			want string
		}{
			{"E_sim", b.ESim, w.eSim}, {"lower", b.Lower, w.lower}, {"E_diff", b.EDiff, w.eDiff},
			{"absolute lower", b.AbsoluteLower, w.absoluteLower}, {"absolute upper", b.AbsoluteUpper, w.absoluteUpper},
		} {
			if c.want != "" && inPrint(c.got, c.want) != c.want {
				t.Errorf("%d x %d, P=%v: %s is %v, the table has %s", w.classes, w.perClass, w.p, c.name, c.got, c.want)
			}
		}
		if w.eSim == "" && b.ESim > 1e-15 {
			t.Errorf("%d x %d, P=%v: E_sim is %v, the table has 0", w.classes, w.perClass, w.p, b.ESim)
		}
	}
}

// printed shows v with the digits of like.
func inPrint(v float64, like string) string {
	if mantissa, _, ok := strings.Cut(like, "e"); ok {
		return strings.Replace(strconv.FormatFloat(v, 'e', len(mantissa)-2, 64), "e-0", "e-", 1)
	}
	return strings.TrimPrefix(strconv.FormatFloat(v, 'f', len(like)-1, 64), "0")
}

// The floor for same-index negatives as the paper's Fig. 5 has it, claim C7.
func TestDIBSFloorsOfTheFigure(t *testing.T) {
	for i, want := range []float64{0.045, 0.0225, 0.015, 0.01125, 0.009, 0.0075, 0.00643, 0.00563, 0.005} {
		if b := dibs(t, i+2, 300, 0.1); math.Abs(b.FloorDuplicates-want) > 5e-6 || b.FloorDuplicates != b.Lower {
			t.Errorf("%d classes: %v, want %v", i+2, b.FloorDuplicates, want)
		}
	}
	for i, want := range []float64{0.00264, 0.005, 0.00708, 0.00889, 0.01042, 0.01167} {
		if b := dibs(t, 10, 300, 0.05*float64(i+1)); math.Abs(b.FloorDuplicates-want) > 5e-6 {
			t.Errorf("P=%v: %v, want %v", 0.05*float64(i+1), b.FloorDuplicates, want)
		}
	}
}

func TestDIBSOfManyImagesAndClasses(t *testing.T) {
	// P (1-P)^(N_c-1) / 2 at N_c = 10^6, P = 10^-6: P e^-1 / 2, times 1 + P/2 + ...
	b := dibs(t, 10, 1_000_000, 1e-6)
	if want := 1e-6 / math.E / 2 * (1 + 0.5e-6); !testutil.WithinRelative(b.ESim, want, 1e-10) {
		t.Errorf("E_sim %v, want %v", b.ESim, want)
	}
	// With many classes (n_c-2)!/(n_c-m)!/(n_c-1)^(m-2) tends to 1, and the sum over m to
	// (1-P)/(2(n_c-1)) (1/(1-x)^2 - 1) with x = P/2.
	b = dibs(t, 1_000_000, 1_000_000, 0.5)
	x := 0.25
	want := (1/((1-x)*(1-x)) - 1) * 0.5 / 2 / 999_999 / (1 - 0.0625)
	if !testutil.WithinRelative(b.EDiff, want, 1e-5) || b.ESim != 0 {
		t.Errorf("E_diff %v, want about %v; E_sim %v", b.EDiff, want, b.ESim)
	}
	if b = dibs(t, 2, 2, 0); b.ESim != 0 || b.Lower != 0 || b.EDiff != 0 || b.FloorDuplicates != 0 {
		t.Errorf("without noise: %+v", b)
	}
}

func TestDIBSRefuses(t *testing.T) {
	for _, c := range []struct {
		classes, perClass int
		p                 float64
		want              string
	}{
		{1, 300, 0.1, "number of classes is 1"},
		{10, 1, 0.1, "number of images of each class is 1"},
		{10, 300, -0.1, "noise is -0.1"},
		{10, 300, 0.51, "noise is 0.51"},
		{10, 300, math.NaN(), "noise is NaN"},
	} {
		if b, err := DIBS(c.classes, c.perClass, c.p); !errors.Is(err, ErrInput) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %+v, %v", c, b, err)
		}
	}
}
