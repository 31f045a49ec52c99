package summary

import (
	"fmt"
	"slices"
	"strings"

	"tercet/internal/lists"
	"tercet/internal/names"
	"tercet/internal/option"
	"tercet/internal/record"
	"tercet/internal/render"
	"tercet/internal/rundir"
)

// Summary is the report over runs, schema tercet.report/1.
type Summary struct {
	Schema string `json:"schema"`
	// Split and Checkpoint say of which images and weights all scores are.
	Split      string   `json:"split"`
	Checkpoint string   `json:"checkpoint"`
	Metrics    []string `json:"metrics"`
	// GroupBy holds the config keys that runs of one group share; empty stands
	// for all keys but name and seed.
	GroupBy []string    `json:"group_by"`
	Groups  []*Group    `json:"groups"`
	Runs    []RunRecord `json:"runs"`
	Notes   []string    `json:"notes"`

	columns   []string // keys in which the groups differ, shown as columns
	baselines []baseline
}

// Group is what runs of one kind have in common.
type Group struct {
	Name   string                `json:"run"`
	Labels map[string]string     `json:"labels"` // keys in which the groups differ
	N      int                   `json:"n"`
	Dirs   []string              `json:"runs"`
	Seeds  []uint64              `json:"seeds"`
	Status map[record.Status]int `json:"status"`
	Scores map[string]Estimate   `json:"scores"`
	// LeftOut says of scores without a mean in what the runs are not measured alike.
	LeftOut   map[string]string              `json:"left_out,omitempty"`
	Baselines map[string]map[string]Estimate `json:"baselines,omitempty"`
	Seconds   float64                        `json:"seconds"` // training, mean over the runs
	Forward   float64                        `json:"forward"` // images in training, mean over the runs
	Backward  float64                        `json:"backward"`

	runs []*rundir.Run
}

// Estimate is a mean over N runs. CI95 is Student's interval, which speaks about
// further runs of the kind; one run has none.
type Estimate struct {
	Value      *float64    `json:"value"`
	CI95       *[2]float64 `json:"ci95,omitempty"`
	N          int         `json:"n"`
	Definition string      `json:"definition,omitempty"`

	cell render.Cell
}

// RunRecord is one run of a Summary with its own scores and their intervals.
type RunRecord struct {
	Dir     string        `json:"run"`
	Name    string        `json:"name"`
	Status  record.Status `json:"status"`
	Message string        `json:"message,omitempty"`
	Seed    uint64        `json:"seed"`
	Version string        `json:"version"`
	CPU     string        `json:"cpu"`
	Kernel  string        `json:"kernel"`
	Steps   int           `json:"steps"`
	Planned int           `json:"steps_planned"`
	// Selection says what test images have chosen of the run; "" for nothing.
	Selection string                  `json:"selection,omitempty"`
	Stopped   string                  `json:"stopped,omitempty"` // why it ended before its last step
	Seconds   float64                 `json:"seconds"`
	Cost      record.Cost             `json:"cost"`
	Scores    map[string]record.Value `json:"scores"`
}

// Options says what a Summary shows; empty lists take the defaults.
type Options struct {
	Metrics []string // such as recall@1, ES:R, ES:R(published), clean:ERS, cluster:nmi
	GroupBy []string // config keys; "loss" stands for loss.name
	PerRun  bool     // each run is a group
}

// usual are the scores of a report for which none were asked, as far as there
// are such.
var usual = []string{"recall@1", "map@r", "nmi", "ES:R", "ERS"}

// UsualScores are those that a report shows where no others are asked for, as far as runs
// have them.
func UsualScores() []string { return slices.Clone(usual) }

// Summarize groups runs and gives mean and interval of each metric, baselines
// beside them, and notes on everything that makes a number less than it seems.
func Summarize(runs []*rundir.Run, o Options) (*Summary, error) {
	s := &Summary{Schema: record.ReportSchema, Metrics: []string{}, GroupBy: []string{}, Runs: []RunRecord{}, Notes: []string{}}
	var err error
	if s.Metrics, err = chooseMetrics(runs, o.Metrics); err != nil {
		return nil, err
	}
	if s.GroupBy, err = chooseKeys(runs, o.GroupBy); err != nil {
		return nil, err
	}
	if len(runs) > 0 {
		of := runs[0].Of.Full()
		s.Split, s.Checkpoint = of.Split, of.Checkpoint
	}
	s.group(runs, o.PerRun)
	if err := s.estimate(runs); err != nil {
		return nil, err
	}
	for _, r := range runs {
		rec := RunRecord{
			Dir: r.Dir, Name: r.Manifest.Name, Status: r.Manifest.Status, Message: r.Manifest.Message, Seed: r.Manifest.Seed,
			Version: r.Manifest.Version, CPU: r.Manifest.CPU, Kernel: r.Manifest.Kernel, Steps: r.Manifest.Steps,
			Planned: r.Manifest.Of, Seconds: r.Manifest.Seconds, Cost: r.Manifest.Cost, Scores: map[string]record.Value{},
		}
		rec.Selection = rundir.SelectedOn([]*rundir.Run{r})
		if stop := r.Manifest.Stopped; stop != nil {
			rec.Stopped = stop.Reason
		}
		for _, sc := range r.Scores() {
			rec.Scores[sc.Key] = sc.Value
		}
		s.Runs = append(s.Runs, rec)
	}
	s.Notes = append(s.Notes, s.remarks(runs)...)
	return s, nil
}

// chooseMetrics returns the wanted keys as the runs write them, or the usual
// ones that some run has.
func chooseMetrics(runs []*rundir.Run, want []string) ([]string, error) {
	var all []string
	for _, r := range runs {
		for _, sc := range r.Scores() {
			all = lists.AppendNew(all, sc.Key)
		}
	}
	out, unknown := ChooseScores(all, want)
	if unknown != "" {
		return nil, unknownMetric(runs, unknown, all)
	}
	return out, nil
}

// ChooseScores returns the wanted scores as all writes them, each once; unknown is one that
// is not there. Without wanted ones it returns the usual ones that are there, or where none
// is the first six.
func ChooseScores(all, want []string) (out []string, unknown string) {
	out = []string{}
	if len(want) == 0 {
		for _, k := range usual {
			if slices.Contains(all, k) {
				out = append(out, k)
			}
		}
		if len(out) == 0 {
			out = append(out, all[:min(len(all), 6)]...)
		}
		return out, ""
	}
	for _, w := range want {
		w = names.Score(w)
		i := slices.IndexFunc(all, func(k string) bool { return strings.EqualFold(k, w) })
		switch {
		case i >= 0 && !slices.Contains(out, all[i]):
			out = append(out, all[i])
		case i < 0:
			return nil, w
		}
	}
	return out, ""
}

func unknownMetric(runs []*rundir.Run, want string, all []string) error {
	msg := fmt.Sprintf("no run has the score %q", want)
	if c := names.Closest(want, all); c != "" {
		return fmt.Errorf("%s (did you mean %s?)", msg, c)
	}
	if short := Headlines(all); short != nil {
		msg += "; there are: " + strings.Join(short, ", ")
		if more := len(all) - len(short); more > 0 {
			msg += fmt.Sprintf(" and %d more, which the result documents list", more)
		}
	}
	bare, _, _ := strings.Cut(want, "(")
	for _, kind := range rundir.Kinds() {
		if note := rundir.Without(kind, runs); note != "" && (!rundir.IsExtra(kind) || slices.Contains(rundir.KeysOf(kind), bare)) {
			msg += "; " + note
		}
	}
	if slices.ContainsFunc(suiteKeys(), func(k string) bool { return strings.EqualFold(k, bare) }) {
		msg += "; tercet attack " + option.Name("suite") + " ers measures it"
	}
	return fmt.Errorf("%s", msg)
}

// Headlines are the scores that people ask for first, or all where there are none.
func Headlines(all []string) []string {
	out := lists.Filter(all, func(k string) bool { return headline.MatchString(k) || slices.Contains(usual, k) })
	if out == nil {
		return all
	}
	return out
}

// chooseKeys completes sections to the key that names their component.
func chooseKeys(runs []*rundir.Run, want []string) ([]string, error) {
	out := []string{}
	has := func(key string) bool {
		return slices.ContainsFunc(runs, func(r *rundir.Run) bool { _, ok := r.Label(key); return ok })
	}
	for _, w := range want {
		switch {
		case has(w):
		case has(w + ".name"):
			w += ".name"
		default:
			return nil, fmt.Errorf("no run has the config key %q to group by; `tercet config keys` lists the keys", w)
		}
		out = lists.AppendNew(out, w)
	}
	return out, nil
}
