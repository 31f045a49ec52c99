package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"testing"

	"tercet/internal/theory/stability"
)

// complete has a command line for each bound, of all that it needs.
var complete = map[string]string{
	"Theorem 1":   "--theorem 1 --n-pos 1000 --n-neg 1000 --delta 0.01 --gamma 0.001 --M 1",
	"Theorem 2":   "--theorem 2 --n-pos 1000 --n-neg 1000 --delta 0.01 --M 1 --c 0.03125 --steps 1000 --radius 1",
	"Theorem 3":   "--theorem 3 --n-pos 1000 --n-neg 1000 --delta 0.01 --sigma 1 --b 2 --tau 0.5 --lipschitz 4 --constants tight",
	"Theorem 4":   "--theorem 4 --n-pos 1000 --n-neg 1000 --sigma 1 --risk 0.1 --smoothness 4",
	"Lemma 1":     "--lemma 1 --gamma 0.25",
	"Lemma 2":     "--lemma 2 --step 0.25 --uses 7 --lipschitz 3 --smoothness 5",
	"Lemma 3":     "--lemma 3 --n-pos 1000 --n-neg 1000 --delta 0.01 --b 2 --tau 0.5",
	"Lemma 4":     "--lemma 4 --n-pos 10 --n-neg 1000 --sigma 1 --radius 1",
	"Lemma 5":     "--lemma 5 --n-pos 10 --n-neg 1000 --sigma 1 --radius 1",
	"Lemma 6":     "--lemma 6 --n-pos 11 --risk 0.1 --moved-pos 0.02 --moved-neg 0.01 --smoothness 4 --eps 2",
	"Lemma 10":    "--lemma 10 --mu 2 --delta 1e-6",
	"Corollary 1": "--corollary 1 --n-pos 1000 --n-neg 1000 --delta 0.01 --M 1 --c 0.5 --steps 1000 --radius 1 --constants tight",
	"Corollary 2": "--corollary 2 --n-pos 1000 --n-neg 1000 --delta 0.01 --sigma 1 --b 2 --tau 0.5 --norm 2 --radius 1",
	"Corollary 3": "--corollary 3 --n-pos 1000 --n-neg 1000 --risk 0.03 --norm 1 --smoothness 4",
}

// documentOf is what bound stability --json prints.
type documentOf struct {
	Schema, Kind, Source, Constants string
	Inputs                          map[string]float64
	Forms                           []struct {
		Form    string `json:"form"`
		Refused string `json:"refused"`
		stability.Result
	}
}

func TestBoundStability(t *testing.T) {
	for name, want := range map[string][2]string{ // paper, corrected
		"Theorem 1": {"21.440438", "21.440438"}, "Theorem 2": {"14820.747", "34524.863"}, "Theorem 3": {"1076.800", "1199.665"},
		"Theorem 4": {"0.00102176", "0.03480676"}, "Lemma 1": {"0.75", "0.75"}, "Lemma 2": {"31.5", "31.5"},
		"Lemma 3": {"0.182253", "0.117069"}, "Lemma 4": {"0.256", "51.2"}, "Lemma 5": {"14.0217", "198.2967"},
		"Lemma 6": {"0.245", "0.65"}, "Lemma 10": {"11.1046", "15.3499"}, "Corollary 1": {"59268.330", "138083.916"},
		"Corollary 2": {"4308.834", "9628.644"}, "Corollary 3": {"", "1.644390"},
	} {
		var doc documentOf
		boundDocument(t, "stability "+complete[name], &doc)
		if doc.Schema != "tercet.bound/1" || doc.Kind != "stability" || doc.Source != name || len(doc.Forms) != 2 ||
			doc.Forms[0].Form != "paper" || doc.Forms[1].Form != "corrected" {
			t.Fatalf("%s: %+v", name, doc)
		}
		for i, digits := range want {
			_, after, _ := strings.Cut(digits, ".")
			if got := fmt.Sprintf("%.*f", len(after), doc.Forms[i].Value); got != digits && digits != "" {
				t.Errorf("%s, %s: %s, want %s", name, doc.Forms[i].Form, got, digits)
			}
		}
		for key, v := range doc.Inputs {
			flag := "--" + strings.ReplaceAll(key, "_", "-") + " "
			_, rest, ok := strings.Cut(complete[name], flag)
			if typed, err := strconv.ParseFloat(strings.Fields(rest + " ?")[0], 64); !ok || err != nil || typed != v {
				t.Errorf("%s: input %s is %v", name, key, v)
			}
		}
		if constants := strings.Contains(complete[name], "radius") || strings.Contains(complete[name], "constants"); constants != (doc.Constants != "") {
			t.Errorf("%s: constants %q", name, doc.Constants)
		}
	}
	var doc documentOf
	boundDocument(t, "stability "+complete["Corollary 3"], &doc)
	if f := doc.Forms[0]; f.Refused == "" || !strings.Contains(f.Refused, "want at least 8 alpha = 32") || f.Value != 0 || f.Source != "" {
		t.Errorf("%+v", f)
	}
	if f := doc.Forms[1]; f.Refused != "" || f.Rate == nil || math.Abs(f.Rate.Value-0.00647723) > 5e-9 {
		t.Errorf("%+v", f)
	}
	doc = documentOf{}
	boundDocument(t, "stability "+complete["Corollary 3"]+" --form corrected", &doc)
	if len(doc.Forms) != 1 || doc.Forms[0].Form != "corrected" {
		t.Errorf("%+v", doc)
	}
}

func TestBoundStabilityText(t *testing.T) {
	for line, want := range map[string][]string{
		complete["Theorem 1"] + " --sup 1": {
			"Theorem 1 bounds |R_S(A(S)) - R(A(S))|, with probability 1 - delta\nn-pos 1000, n-neg 1000, delta 0.01, gamma 0.001, M 1, sup 1\n",
			"6 gamma 0.006 0.006", "bound 21.4404 21.4404", "which is vacuous vacuous", "S15: the proof holds one side", "Vacuous is a bound above 1, the largest value of the loss.\n",
		},
		complete["Lemma 3"]:     {"of tau, positives 0.0959705", "of tau, blocks 0.10294", "which is not vacuous not vacuous", "S9: "},
		complete["Lemma 4"]:     {"radius 1, paper constants\n", "bound 0.256 51.2", "a positive replaced 51.2 51.2", "S1: printed with min"},
		complete["Corollary 3"]: {"\npaper: cannot calculate: sigma min(n+, n-) is 0.974004", "order, without its constant, corrected: ", "sigma 0.032"},
		complete["Lemma 10"]:    {"Lemma 10 bounds X, ", "\npaper: mu is below 3 log(1/delta) = 41.4465"},
	} {
		code, out, stderr := cli(strings.Fields("bound stability " + line)...)
		if code != 0 || stderr != "" {
			t.Errorf("%s: %d %s", line, code, stderr)
		}
		for _, w := range want {
			if !strings.Contains(out, w) && !hasRow(out, strings.Fields(w)...) {
				t.Errorf("%s: no %q in\n%s", line, w, out)
			}
		}
	}
	// A note of one form alone names it only where the other is shown too.
	if _, out, _ := cli(strings.Fields("bound stability --form paper " + complete["Lemma 10"])...); !strings.Contains(out, "\nmu is below 3 log") || strings.Contains(out, "CORRECTED") {
		t.Error(out)
	}
}

// alone runs the command without the rest of the tree.
func alone(args []string) error {
	cmd := newBoundStability(newStreams(nil, io.Discard, io.Discard))
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	cmd.SetArgs(args)
	return cmd.Execute()
}

// A number that a bound does not need is refused, one that it needs is asked for.
func TestBoundStabilityFlags(t *testing.T) {
	for name, line := range complete {
		words := strings.Fields(line)
		for i := 2; i < len(words); i += 2 {
			flag := words[i]
			if flag == "--constants" || flag == "--eps" {
				continue
			}
			short := append(append([]string{}, words[:i]...), words[i+2:]...)
			missing := flag
			if one := strings.Contains(line, "--lipschitz") != strings.Contains(line, "--smoothness"); one && (flag == "--lipschitz" || flag == "--smoothness") {
				missing = "--radius" // either would do: the one that does without constants is named
			}
			if err, want := alone(short), name+" needs "+missing+" too; in all "; err == nil || exitCode(err) != ExitUsage || !strings.Contains(err.Error(), want) {
				t.Errorf("%s without %s\ngot  %v\nwant %s", name, flag, err, want)
			}
		}
		for _, b := range stabilityBounds {
			if b.name() != name {
				continue
			}
			for _, extra := range []string{"n-pos", "n-neg", "delta", "gamma", "M", "sigma", "b", "tau", "c", "steps", "step", "uses", "risk", "eps", "moved-pos", "moved-neg", "norm", "mu", "sup"} {
				takes := strings.Contains(" "+b.needs+" ", " "+extra+" ") || extra == "eps" && b.eps || extra == "sup" && !b.counts
				if takes {
					continue
				}
				err := alone(append(strings.Fields(line), "--"+extra, "1"))
				if want := name + " does not use --" + extra + "; it needs --"; err == nil || exitCode(err) != ExitUsage || !strings.Contains(err.Error(), want) {
					t.Errorf("%s with %s: %v", name, extra, err)
				}
			}
		}
	}
	if len(complete) != len(stabilityBounds) {
		t.Errorf("%d bounds, %d lines", len(stabilityBounds), len(complete))
	}
}

func TestBoundStabilityRefuses(t *testing.T) {
	without := func(name, flag string) string {
		head, rest, _ := strings.Cut(complete[name], flag+" ")
		_, rest, _ = strings.Cut(rest+" ", " ")
		return head + rest
	}
	for line, want := range map[string]string{
		"":                      "which bound? Give one of --theorem, --lemma, --corollary and its number",
		"--n-pos 3":             "which bound?",
		"--theorem 5":           "there is no bound of --theorem 5; there are 1, 2, 3, 4",
		"--lemma 7":             "there is no bound of --lemma 7; there are 1, 2, 3, 4, 5, 6, 10",
		"--theorem 1 --lemma 1": "--lemma and --theorem do not go together",
		"--theorem 1":           "Theorem 1 needs --n-pos, --n-neg, --delta, --gamma and --M too; in all --n-pos",
		complete["Theorem 1"] + " --constants tight": "Theorem 1 does not use --constants",
		complete["Theorem 4"] + " --constants tight": "--constants chooses L and alpha of --radius, which is not given",
		complete["Theorem 4"] + " --radius 1":        "--radius is about the logistic loss, --lipschitz and --smoothness are about another",
		complete["Theorem 4"] + " --lipschitz 1":     "Theorem 4 does not use --lipschitz",
		complete["Corollary 1"] + " --lipschitz 1":   "--radius is about the logistic loss",
		without("Lemma 4", "--radius"):               "Lemma 4 needs --radius too; in all --n-pos, --n-neg, --sigma and --radius (or --lipschitz)",
		without("Lemma 2", "--lipschitz"):            "Lemma 2 needs --lipschitz too",
		complete["Lemma 4"] + " --sup 0":             "--sup is 0, want a number above 0",
		complete["Lemma 4"] + " --radius 0":          "--radius is 0, want a number above 0",
		complete["Lemma 4"] + " --radius NaN":        "--radius is NaN, want a number above 0",
		complete["Lemma 4"] + " --form best":         `--form is "best"; choose paper, corrected or both`,
		complete["Lemma 4"] + " --constants best":    `constants are "best"; choose paper or tight`,
		complete["Lemma 4"] + " --n-pos 1":           "n+ is 1, want 2 or more",
		complete["Lemma 4"] + " --n-neg 0":           "n- is 0, want 1 or more",
		complete["Lemma 4"] + " --sigma 0":           "sigma is 0, want a finite number above 0: F_S must be sigma-strongly convex",
		complete["Theorem 1"] + " --delta 0.5":       "delta is 0.5, want a number between 0 and 1/e",
		complete["Theorem 1"] + " --gamma NaN":       "gamma is NaN",
		complete["Theorem 1"] + " --M Inf":           "M is +Inf",
		complete["Theorem 2"] + " --c 0.04":          "c is 0.04, want at most 2/alpha = 0.03125",
		complete["Theorem 4"] + " --sigma 0.01":      "want at least 8 alpha = 32: Theorem 4 assumes it",
		complete["Theorem 4"] + " --n-pos many":      `--n-pos is "many"; want a whole number`,
	} {
		code, out, stderr := cli(strings.Fields("bound stability " + line)...)
		if code != ExitUsage || out != "" || !strings.Contains(stderr, want) {
			t.Errorf("bound stability %s\ngot  %d %s%s\nwant %s", line, code, out, stderr, want)
		}
	}
	if b, err := json.Marshal(stabilityForm{Form: "paper", Refused: "no"}); err != nil || string(b) != `{"form":"paper","refused":"no"}` {
		t.Errorf("%s, %v", b, err)
	}
}

// Sizes may be written as powers of ten.
func TestBoundStabilityCounts(t *testing.T) {
	const line = "bound stability --lemma 4 --sigma 1 --radius 1 --n-neg 1000 --n-pos "
	if a, b := must(t, 0, line+"1e6 --json"), must(t, 0, line+"1000000 --json"); a != b {
		t.Errorf("1e6 and 1000000 differ:\n%s%s", a, b)
	}
	for _, bad := range []string{"1.5", "1e300", "ten", "NaN"} {
		refuse(t, ExitUsage, line+bad, "want a whole number")
	}
}
