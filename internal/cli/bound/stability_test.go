package bound_test

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"

	"tercet/internal/cli/base"
	"tercet/internal/cli/bound"
	"tercet/internal/cli/clitest"
	"tercet/internal/record/printed"
)

func TestStability(t *testing.T) {
	for name, want := range map[string][2]string{ // paper, corrected
		"Theorem 1": {"21.440438", "21.440438"}, "Theorem 2": {"14820.747", "34524.863"}, "Theorem 3": {"1076.800", "1199.665"},
		"Theorem 4": {"0.00102176", "0.03480676"}, "Lemma 1": {"0.75", "0.75"}, "Lemma 2": {"31.5", "31.5"},
		"Lemma 3": {"0.182253", "0.117069"}, "Lemma 4": {"0.256", "51.2"}, "Lemma 5": {"14.0217", "198.2967"},
		"Lemma 6": {"0.245", "0.65"}, "Lemma 10": {"11.1046", "15.3499"}, "Corollary 1": {"59268.330", "138083.916"},
		"Corollary 2": {"4308.834", "9628.644"}, "Corollary 3": {"", "1.644390"},
	} {
		var doc printed.BoundStability
		document(t, "stability "+bound.Complete[name], &doc)
		if doc.Schema != "tercet.bound/1" || doc.Kind != "stability" || doc.Source != name || len(doc.Forms) != 2 ||
			doc.Forms[0].Form != "paper" || doc.Forms[1].Form != "corrected" {
			t.Fatalf("%s: %+v", name, doc)
		}
		for i, digits := range want {
			if digits == "" {
				continue
			}
			_, after, _ := strings.Cut(digits, ".")
			if got := fmt.Sprintf("%.*f", len(after), doc.Forms[i].Value); got != digits {
				t.Errorf("%s, %s: %s, want %s", name, doc.Forms[i].Form, got, digits)
			}
		}
		for key, v := range doc.Inputs {
			flag := "--" + strings.ReplaceAll(key, "_", "-") + " "
			_, rest, ok := strings.Cut(bound.Complete[name], flag)
			if typed, err := strconv.ParseFloat(strings.Fields(rest + " ?")[0], 64); !ok || err != nil || typed != v {
				t.Errorf("%s: input %s is %v", name, key, v)
			}
		}
		if constants := strings.Contains(bound.Complete[name], "radius") || strings.Contains(bound.Complete[name], "constants"); constants != (doc.Constants != "") {
			t.Errorf("%s: constants %q", name, doc.Constants)
		}
	}
	var doc printed.BoundStability
	document(t, "stability "+bound.Complete["Corollary 3"], &doc)
	if f := doc.Forms[0]; f.Refused == "" || !strings.Contains(f.Refused, "want at least 8 alpha = 32") || f.BoundValue != nil {
		t.Errorf("%+v", f)
	}
	if f := doc.Forms[1]; f.Refused != "" || f.Rate == nil || math.Abs(f.Rate.Value-0.00647723) > 5e-9 {
		t.Errorf("%+v", f)
	}
	doc = printed.BoundStability{}
	document(t, "stability "+bound.Complete["Corollary 3"]+" --form corrected", &doc)
	if len(doc.Forms) != 1 || doc.Forms[0].Form != "corrected" {
		t.Errorf("%+v", doc)
	}
}

func TestStabilityText(t *testing.T) {
	for line, want := range map[string][]string{
		bound.Complete["Theorem 1"] + " --sup 1": {
			"Theorem 1 bounds |R_S(A(S)) - R(A(S))|, with probability 1 - delta\nn-pos 1000, n-neg 1000, delta 0.01, gamma 0.001, M 1, sup 1\n",
			"6 gamma 0.006 0.006", "bound 21.4404 21.4404", "which is vacuous vacuous", "S15: the proof holds one side", "Vacuous is a bound above 1, the largest value of the loss.\n",
		},
		bound.Complete["Lemma 3"]:     {"of tau, positives 0.0959705", "of tau, blocks 0.10294", "which is not vacuous not vacuous", "S9: "},
		bound.Complete["Lemma 4"]:     {"radius 1, paper constants\n", "bound 0.256 51.2", "a positive replaced 51.2 51.2", "S1: printed with min"},
		bound.Complete["Corollary 3"]: {"\npaper: cannot calculate: sigma min(n+, n-) is 0.974004", "order, without its constant, corrected: ", "sigma 0.032"},
		bound.Complete["Lemma 10"]:    {"Lemma 10 bounds X, ", "\npaper: mu is below 3 log(1/delta) = 41.4465"},
	} {
		code, out, stderr := clitest.Run(strings.Fields("bound stability " + line)...)
		if code != 0 || stderr != "" {
			t.Errorf("%s: %d %s", line, code, stderr)
		}
		for _, w := range want {
			if !strings.Contains(out, w) && !clitest.HasRow(out, strings.Fields(w)...) {
				t.Errorf("%s: no %q in\n%s", line, w, out)
			}
		}
	}
	// A note of one form alone names it only where the other is shown too.
	if _, out, _ := clitest.Run(strings.Fields("bound stability --form paper " + bound.Complete["Lemma 10"])...); !strings.Contains(out, "\nmu is below 3 log") || strings.Contains(out, "CORRECTED") {
		t.Error(out)
	}
}

func TestStabilityRefuses(t *testing.T) {
	without := func(name, flag string) string {
		head, rest, _ := strings.Cut(bound.Complete[name], flag+" ")
		_, rest, _ = strings.Cut(rest+" ", " ")
		return head + rest
	}
	for line, want := range map[string]string{
		"":                      "which bound? Give one of --theorem, --lemma, --corollary and its number",
		"--n-pos 3":             "which bound?",
		"--theorem 5":           "unknown bound --theorem 5; valid: 1, 2, 3, 4",
		"--lemma 7":             "unknown bound --lemma 7; valid: 1, 2, 3, 4, 5, 6, 10",
		"--theorem 1 --lemma 1": "--lemma and --theorem cannot be combined",
		"--theorem 1":           "Theorem 1 needs --n-pos, --n-neg, --delta, --gamma and --M too; in all --n-pos",
		bound.Complete["Theorem 1"] + " --constants tight": "Theorem 1 does not use --constants",
		bound.Complete["Theorem 4"] + " --constants tight": "--constants chooses L and alpha of --radius, which is not given",
		bound.Complete["Theorem 4"] + " --radius 1":        "--radius is for the logistic loss, --lipschitz and --smoothness are for other losses",
		bound.Complete["Theorem 4"] + " --lipschitz 1":     "Theorem 4 does not use --lipschitz",
		bound.Complete["Corollary 1"] + " --lipschitz 1":   "--radius is for the logistic loss",
		without("Lemma 4", "--radius"):                     "Lemma 4 needs --radius too; in all --n-pos, --n-neg, --sigma and --radius (or --lipschitz)",
		without("Lemma 2", "--lipschitz"):                  "Lemma 2 needs --lipschitz too",
		bound.Complete["Lemma 4"] + " --sup 0":             "--sup is 0, want a number above 0",
		bound.Complete["Lemma 4"] + " --radius 0":          "--radius is 0, want a number above 0",
		bound.Complete["Lemma 4"] + " --radius NaN":        "--radius is NaN, want a number above 0",
		bound.Complete["Lemma 4"] + " --form best":         `--form is "best"; choose paper, corrected or both`,
		bound.Complete["Lemma 4"] + " --constants best":    `constants are "best"; choose paper or tight`,
		bound.Complete["Lemma 4"] + " --n-pos 1":           "n+ is 1, want 2 or more",
		bound.Complete["Lemma 4"] + " --n-neg 0":           "n- is 0, want 1 or more",
		bound.Complete["Lemma 4"] + " --sigma 0":           "sigma is 0, want a finite number above 0: F_S must be sigma-strongly convex",
		bound.Complete["Theorem 1"] + " --delta 0.5":       "delta is 0.5, want a number between 0 and 1/e",
		bound.Complete["Theorem 1"] + " --gamma NaN":       "gamma is NaN",
		bound.Complete["Theorem 1"] + " --M Inf":           "M is +Inf",
		bound.Complete["Theorem 2"] + " --c 0.04":          "c is 0.04, want at most 2/alpha = 0.03125",
		bound.Complete["Theorem 4"] + " --sigma 0.01":      "want at least 8 alpha = 32: Theorem 4 assumes it",
		bound.Complete["Theorem 4"] + " --n-pos many":      `--n-pos is "many"; want a whole number`,
	} {
		code, out, stderr := clitest.Run(strings.Fields("bound stability " + line)...)
		if code != base.ExitUsage || out != "" || !strings.Contains(stderr, want) {
			t.Errorf("bound stability %s\ngot  %d %s%s\nwant %s", line, code, out, stderr, want)
		}
	}
	if b, err := json.Marshal(printed.BoundForm{Form: "paper", Refused: "no"}); err != nil || string(b) != `{"form":"paper","refused":"no"}` {
		t.Errorf("%s, %v", b, err)
	}
}

// Sizes may be written as powers of ten.
func TestStabilityCounts(t *testing.T) {
	const line = "bound stability --lemma 4 --sigma 1 --radius 1 --n-neg 1000 --n-pos "
	if a, b := clitest.Must(t, 0, line+"1e6 --json"), clitest.Must(t, 0, line+"1000000 --json"); a != b {
		t.Errorf("1e6 and 1000000 differ:\n%s%s", a, b)
	}
	for _, bad := range []string{"1.5", "1e300", "ten", "NaN"} {
		clitest.Refuse(t, base.ExitUsage, line+bad, "want a whole number")
	}
}
