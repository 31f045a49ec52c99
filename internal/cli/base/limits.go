package base

import (
	"errors"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"tercet/internal/generalize"
	"tercet/internal/par"
	"tercet/internal/theory"
	"tercet/internal/tracker"
)

// FlagLimits are the largest values of flags that count something which takes memory or
// time, the same for each command that has the flag. A flag of whole numbers stands
// either here or in unlimited; a test sees to it.
var FlagLimits = map[string]int64{
	"size":              4096,
	"batch":             1_000_000,
	"bootstrap":         1_000_000,
	"permutations":      1_000_000,
	"resamples":         1_000_000,
	"classes":           1_000_000_000, // of calculators; pictures have their own limit
	"clusters":          100_000_000,
	"ca-queries":        1_000_000,
	"draws":             100_000,
	"epochs":            1_000_000,
	"examples":          100_000,
	"points":            tracker.MostPoints,
	"part":              1_000_000_000,
	"pgd-steps":         1_000_000,
	"qa-candidates":     1_000_000,
	"target-draws":      100_000,
	"graph-neighbors":   1_000_000,
	"graph-random":      1_000_000,
	"images":            1_000_000_000, // an index
	"jobs":              4096,
	"k":                 1_000_000,
	"map-iterations":    10_000_000,
	"min-cluster-size":  1_000_000_000,
	"min-samples":       1_000_000,
	"mini-batch":        1_000_000_000,
	"n-init":            100_000,
	"nodes":             1_000_000_000,
	"per-class":         1_000_000_000, // as classes
	"queries":           1_000_000_000,
	"limit":             1_000_000_000,
	"repeats":           1_000_000, // an old name
	"replacements":      1_000_000,
	"restarts":          1_000_000,
	"samples":           1_000_000,
	"rounds":            1_000_000_000,
	"silhouette-sample": 1_000_000_000,
	"simulate":          theory.MaxDraws,
	"sizes":             100_000,
	"steps":             1_000_000,
	"scaling":           4096, // as threads
	"tasks":             1_000_000,
	"threads":           4096,
	"triplets":          generalize.MostTriplets,
}

// Unlimited are flags of whole numbers that allocate nothing: seeds, numbers of
// theorems, what the calculators of stability put into formulas, draws that are counted one by one,
// and lengths of runs, which the config limits.
var Unlimited = map[string]bool{
	"seed": true, "theorem": true, "lemma": true, "corollary": true,
	"bound stability --steps": true, "bound ambiguous --draws": true,
	"runs extend --steps": true,
}

// CheckLimits refuses the first flag that is above its limit, or against its own rules.
func CheckLimits(command string, fs *pflag.FlagSet) error {
	var err error
	fs.Visit(func(f *pflag.Flag) {
		limit, ok := FlagLimits[f.Name]
		if err == nil {
			err = checkRules(f)
		}
		if err != nil || !ok || Unlimited[command+" --"+f.Name] {
			return
		}
		for _, text := range strings.Split(strings.Trim(f.Value.String(), "[]"), ",") {
			if n, e := strconv.ParseInt(text, 10, 64); e == nil && n > limit {
				err = Usagef("--%s is %d; give at most %d", f.Name, n, limit)
				return
			}
		}
	})
	return err
}

// ValueError words an error of a flag's value; "" for another one.
func ValueError(err error) string {
	var bad *pflag.InvalidValueError
	if !errors.As(err, &bad) {
		return ""
	}
	f := bad.GetFlag()
	want := map[string]string{
		"int": "a whole number", "int64": "a whole number", "uint64": "a whole number from 0 on", "ints": "whole numbers, separated by commas", "intSlice": "whole numbers, separated by commas",
		"float64": "a number", "bool": "true or false", "duration": "a time such as 30s or 5m",
	}[f.Value.Type()]
	if errors.Is(err, strconv.ErrRange) {
		want += " that is not so large"
	}
	if cause := errors.Unwrap(bad); want == "" && cause != nil {
		return "--" + f.Name + " is " + strconv.Quote(bad.GetValue()) + ": " + cause.Error()
	}
	return "--" + f.Name + " is " + strconv.Quote(bad.GetValue()) + "; want " + want
}

// ParseJobs returns how many runs --jobs wants at once.
func ParseJobs(text string) (int, error) {
	if text == "auto" {
		return par.Threads(), nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		return 0, Usagef("--jobs is %q; give a number of runs, 1 or more, or auto for one per thread", text)
	}
	if most := int(FlagLimits["jobs"]); n > most {
		return 0, Usagef("--jobs is %d; give at most %d", n, most)
	}
	return n, nil
}
