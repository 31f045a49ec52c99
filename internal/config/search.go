package config

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"tercet/internal/option"
)

// Search says how tercet tune looks for values of keys.
type Search struct {
	Method string `yaml:"method" enum:"random|halving" omit:"random" doc:"random trains every trial for the full length; halving trains all trials for a short time, then retrains the best for longer"`
	Trials int    `yaml:"trials" check:">=1,<=10000" omit:"20" doc:"number of trials, each with random values of the keys in space"`
	Eta    int    `yaml:"eta" check:">=2,<=16" omit:"3" doc:"with halving: one of ETA trials is trained again, ETA times as long"`
	Seed   uint64 `yaml:"seed" omit:"0" doc:"seed of the draws, independent of the seeds of the runs"`
	Space  Axes   `yaml:"space" omit:"{}" doc:"dotted key to a range: [uniform, LOW, HIGH], [log-uniform, LOW, HIGH], [integer, LOW, HIGH] or [choice, A, B, ...]"`
}

// Range is what a key is drawn from.
type Range struct {
	Key       string
	Kind      string // uniform, log-uniform, integer or choice
	Low, High float64
	Choices   []string // as YAML
}

const kinds = "[uniform, LOW, HIGH], [log-uniform, LOW, HIGH], [integer, LOW, HIGH] or [choice, A, B, ...]"

// At returns the value at a place from 0 to 1 of the range, as YAML.
func (r Range) At(u float64) string {
	switch r.Kind {
	case "choice":
		return r.Choices[min(int(u*float64(len(r.Choices))), len(r.Choices)-1)]
	case "integer":
		return strconv.FormatFloat(min(r.Low+math.Floor(u*(r.High-r.Low+1)), r.High), 'f', -1, 64)
	case "log-uniform":
		return digits(math.Exp(math.Log(r.Low)+float64(u*(math.Log(r.High)-math.Log(r.Low)))), r)
	}
	return digits(r.Low+float64(u*(r.High-r.Low)), r)
}

// digits writes x with four digits, within the range.
func digits(x float64, r Range) string {
	short, _ := strconv.ParseFloat(strconv.FormatFloat(x, 'g', 4, 64), 64)
	return strconv.FormatFloat(min(max(short, r.Low), r.High), 'g', -1, 64)
}

// Ranges returns what the keys of the search are drawn from, in the file's order.
func (c *Config) Ranges() ([]Range, error) {
	out, errs := c.ranges()
	return out, join(errs)
}

func (c *Config) ranges() (out []Range, errs []*Error) {
	for _, a := range c.Search.Space {
		r, msg := rangeOf(a)
		if msg != "" {
			errs = append(errs, a.at.errorf("search.space."+a.Key, msg))
			continue
		}
		out = append(out, r)
	}
	return out, errs
}

// searchable says whether runs with different values of a key are compared by the same score
// of the same images.
func searchable(key string) bool {
	head, rest, _ := strings.Cut(key, ".")
	part, _, _ := strings.Cut(rest, ".")
	switch head {
	case "", "name", "sweep", "search", "include", "seed", "eval":
		return false
	case "data": // how images are shown, not which ones there are
		return slices.Contains([]string{"size", "fit", "crop", "color", "transform", "augment", "distort"}, part)
	case "train":
		return !slices.Contains([]string{"", "eval_every", "eval_samples", "early_stop", "early_stop.metric", "early_stop.on"}, rest)
	}
	return true
}

// rangeOf reads a range; msg says what is wrong with it.
func rangeOf(a Axis) (r Range, msg string) {
	if !searchable(a.Key) {
		return r, "this key cannot be searched: it names a run, or says what runs are compared by"
	}
	r = Range{Key: a.Key, Kind: a.Values[0], Choices: a.Values[1:]}
	switch {
	case r.Kind == "choice" && len(r.Choices) > 0:
		return r, ""
	case !slices.Contains([]string{"uniform", "log-uniform", "integer"}, r.Kind) || len(r.Choices) != 2:
		return r, "must be " + kinds + ", is [" + strings.Join(a.Values, ", ") + "]"
	}
	var err error
	if r.Low, err = parseFloat(r.Choices[0]); err == nil {
		r.High, err = parseFloat(r.Choices[1])
	}
	whole := r.Low == math.Trunc(r.Low) && r.High == math.Trunc(r.High) && max(math.Abs(r.Low), math.Abs(r.High)) < 1<<53
	switch {
	case err != nil || math.IsInf(r.High-r.Low, 0):
		return r, fmt.Sprintf("LOW and HIGH of %s are two numbers, not %s and %s", r.Kind, r.Choices[0], r.Choices[1])
	case r.Low > r.High:
		return r, fmt.Sprintf("LOW %s is above HIGH %s", r.Choices[0], r.Choices[1])
	case r.Kind == "log-uniform" && r.Low <= 0:
		return r, fmt.Sprintf("log-uniform draws numbers above 0, and LOW is %s", r.Choices[0])
	case r.Kind == "integer" && !whole:
		return r, fmt.Sprintf("integer draws whole numbers, from %s to %s are not", r.Choices[0], r.Choices[1])
	}
	return r, ""
}

// searchRules holds what a search asks of the rest: that validation images decide.
func (c *Config) searchRules(fail func(key, format string, args ...any)) {
	if len(c.Search.Space) == 0 {
		return
	}
	stop := c.Train.EarlyStop
	searched := func(key string) bool {
		return slices.ContainsFunc(c.Search.Space, func(a Axis) bool { return a.Key == key })
	}
	switch {
	case c.LearnsMetric():
		fail("search", "draws keys of networks; model mahalanobis has one solution: remove it")
	case c.Search.Method == "halving" && (searched("train.epochs") || searched("train.steps")):
		fail("search.method", "halving sets the length of its runs: remove train.epochs and train.steps from search.space, or set search.method: random")
	case c.Data.Split.Validation == 0:
		fail("search", "chooses by scores of validation images, and none are held out: set data.split.validation")
	case c.Train.EvalEvery == 0:
		fail("search", "chooses by evaluations during training: set train.eval_every")
	case stop.Metric == "pair_train_accuracy" || stop.Metric != "" && stop.On != "validation":
		fail("search", "chooses by train.early_stop.metric of validation images, not by %s of %s images: change train.early_stop", stop.Metric, stop.On)
	}
}

// searchMistakes tries both ends of every range once, and every choice, the other keys at
// their first.
func (c *Config) searchMistakes(known []*Error) []*Error {
	ranges, errs := c.ranges()
	for _, a := range c.Search.Space {
		if slices.ContainsFunc(c.Axes, func(b Axis) bool {
			return a.Key == b.Key || strings.HasPrefix(a.Key, b.Key+".") || strings.HasPrefix(b.Key, a.Key+".")
		}) {
			errs = append(errs, a.at.errorf("search.space."+a.Key, "is in the sweep, too, and only one of them can choose its value: remove one"))
		}
		for _, o := range c.src.overrides {
			if o.Key == a.Key || strings.HasPrefix(o.Key, a.Key+".") {
				errs = append(errs, &Error{File: o.From, Key: o.Key, Msg: fmt.Sprintf(
					"is searched by this config (%s); write %s 'search.space.%s=[choice, VALUE]' for one value", a.at, option.Name("set"), a.Key)})
			}
		}
	}
	if len(errs) > 0 {
		return errs
	}
	seen := map[Error]bool{}
	for _, e := range known {
		seen[*e] = true
	}
	var ends Axes
	for i, r := range ranges {
		a := Axis{Key: r.Key, at: c.Search.Space[i].at, Values: r.Choices}
		if r.Kind != "choice" {
			a.Values = []string{r.At(0), r.At(1)}
		}
		ends = append(ends, a)
	}
	for i, a := range ends {
		for k := range a.Values {
			if i == 0 || k > 0 {
				errs = append(errs, c.try(ends, i, k, seen)...)
			}
		}
	}
	for _, e := range errs {
		e.Msg = strings.Replace(e.Msg, "(with the sweep's ", "(with the search's ", 1)
	}
	return errs
}
