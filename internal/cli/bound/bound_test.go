package bound_test

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"tercet/internal/cli/base"
	"tercet/internal/cli/clitest"
	"tercet/internal/record/printed"
)

func document(t *testing.T, line string, into any) {
	t.Helper()
	code, out, stderr := clitest.Run(strings.Fields("bound " + line + " --json")...)
	if code != 0 || stderr != "" {
		t.Fatalf("bound %s: exit code %d\n%s", line, code, stderr)
	}
	if err := json.Unmarshal([]byte(out), into); err != nil {
		t.Fatal(err)
	}
}

func TestDIBS(t *testing.T) {
	var doc printed.BoundDIBS
	document(t, "dibs --classes 10 --noise 0.1 --per-class 300", &doc)
	if doc.Schema != "tercet.bound/1" || doc.Kind != "dibs" || doc.Pairs != 6000 || doc.Q != 0.2 || doc.Simulation != nil ||
		math.Abs(doc.Lower-0.005) > 1e-15 || math.Abs(doc.EDiff-0.006710) > 5e-7 || math.Abs(doc.FloorDuplicates-0.005) > 1e-15 {
		t.Errorf("%+v", doc)
	}
	code, out, stderr := clitest.Run("bound", "dibs", "--classes", "2", "--noise", "0.2", "--per-class", "200")
	if code != 0 {
		t.Fatal(stderr)
	}
	for _, want := range [][]string{
		{"lower", "0.080000", "64"}, {"E_diff", "0.095238", "76.19"}, {"corollary", "0.080000", "64"},
		{"2", "images", "of", "one", "index", "0.080000", "0.080000"}, {"4", "images", "of", "two", "neighboring", "indices", "0.012800", "0.217600"},
		{"E_sim", "5.19e-21", "4.15e-18"}, {"duplicates", "floor", "0.080000", "64"},
	} {
		if !clitest.HasRow(out, want...) {
			t.Errorf("no line %v in\n%s", want, out)
		}
	}
}

func TestDIBSSimulates(t *testing.T) {
	var doc printed.BoundDIBS
	line := "dibs --classes 5 --noise 0.1 --per-class 20 --simulate 30 --seed 1"
	document(t, line, &doc)
	s := doc.Simulation
	if s == nil || len(s.Draws) != 30 || s.Proven != 30 || s.Pairs != 200 || math.Abs(s.Multicut.Value-0.0435) > 0.01 ||
		s.Theorem.Multicut.Lower.Verdict != "supported" || s.Theorem.Multicut.Upper.Verdict != "contradicted" {
		t.Errorf("%+v", s)
	}
	_, out, _ := clitest.Run(strings.Fields("bound " + line)...)
	for _, want := range []string{"30 graphs of same-index negatives, seed 1\n", "All optima are proven.\n", "contradicted, 0 of 30", "supported, 30 of 30"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	_, out, _ = clitest.Run(strings.Fields("bound " + line + " --negatives random")...)
	if want := "The theorem covers same-index negatives. Expected here: a duplicates floor of 0.000563.\n"; !strings.Contains(out, want) {
		t.Errorf("no %q in\n%s", want, out)
	}
	// A draw whose optimum is not proven is bounded from both sides.
	_, out, _ = clitest.Run(strings.Fields("bound dibs --noise 0.3 --per-class 16 --simulate 2 --nodes 1")...)
	for _, want := range []string{"multicut, found", "multicut, at least", " of 2 optima are proven; --nodes N sets the limit of the search.\n"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
}

func TestNoise(t *testing.T) {
	var doc printed.BoundNoise
	document(t, "noise --classes 10 --pln 0.4", &doc)
	if doc.Schema != "tercet.bound/1" || doc.Kind != "noise" || doc.Given != "pln" || math.Abs(doc.SLN.Q-0.225403) > 5e-7 ||
		math.Abs(doc.SLN.W11-0.6252) > 5e-5 || math.Abs(doc.SLN.W00-0.0252) > 5e-5 || math.Abs(doc.SLN.Product.W00-0.0144) > 5e-5 || doc.Flips.Rho != 0.2 {
		t.Errorf("%+v", doc.MatchedNoise)
	}
	code, out, stderr := clitest.Run("bound", "noise", "--classes", "2", "--effective", "0.1")
	if code != 0 {
		t.Fatal(stderr)
	}
	for _, want := range [][]string{
		{"drawn", "again:", "q,", "q~", "0.105573", "0.200000"}, {"changed:", "rate,", "P,", "rho", "0.052786", "0.100000", "0.100000"},
		{"w11:", "both", "right", "0.850000", "0.810000", "0.900000"}, {"product", "w00", "0.010000", "0.010000", "0.010000"},
		{"contrast", "0.800000", "0.800000", "0.800000"},
	} {
		if !clitest.HasRow(out, want...) {
			t.Errorf("no line %v in\n%s", want, out)
		}
	}
	if _, out, _ = clitest.Run("bound", "noise", "--pln", "1"); !strings.Contains(out, "triplets carry no information") {
		t.Errorf("no word about the signal in\n%s", out)
	}
}

func TestRefuses(t *testing.T) {
	for line, want := range map[string]string{
		"":                                      "bound needs one of: ambiguous, dibs, noise",
		"dips":                                  `bound has no command "dips"; did you mean dibs?`,
		"dibs --noise 2":                        "cannot calculate: noise is 2, want a number from 0 to 0.5",
		"dibs --noise NaN":                      "noise is NaN",
		"dibs --noise many":                     `--noise is "many"; want a number`,
		"dibs --classes 1":                      "number of classes is 1",
		"dibs --per-class 1":                    "number of images of each class is 1",
		"dibs --simulate 0":                     "number of draws is 0",
		"dibs --simulate -3":                    "number of draws is -3",
		"dibs --seed 3":                         "--seed is for simulated graphs; add --simulate N",
		"dibs --simulate 2 --negatives near":    `negatives are "near"; choose same-index or random`,
		"dibs --simulate 2 --nodes -1":          "limits of -1 nodes",
		"dibs --simulate 2 --per-class 1000000": "too many to draw",
		"noise":                                 "how much noise? Give one of --sln, --rate, --pln, --effective, --flips",
		"noise --sln 0.1 --pln 0.2":             "--pln and --sln cannot be combined",
		"noise --rate 1.5":                      "rate is 1.5",
		"noise --effective 0.6":                 "effective is 0.6",
		"noise --flips 0.7":                     "flips is 0.7",
		"noise --sln 0.1 --classes 1":           "number of classes is 1",
		"noise --pln 0.1 --similar 1":           "share of similar pairs is 1",
	} {
		code, out, stderr := clitest.Run(strings.Fields("bound " + line)...)
		if code != base.ExitUsage || out != "" || !strings.Contains(stderr, want) {
			t.Errorf("bound %s\ngot  %d %s%s\nwant %s", line, code, out, stderr, want)
		}
	}
}
