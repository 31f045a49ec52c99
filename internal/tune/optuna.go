package tune

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"tercet/internal/config"
)

// Outcome is a run of a trial: its round, how long it was trained, and its score.
type Outcome struct {
	Trial  Trial
	Rung   int
	Length int // in epochs or steps
	Score  float64
	Lost   bool
	Run    string
}

// The numbers of Optuna's journal: operations, the direction of a study, states of trials.
const (
	createStudy, createTrial   = 0, 4
	maximize                   = 2
	complete, pruned, failed   = 1, 2, 3
	worker                     = "tercet"
	journalLine, journalWorker = `{"op_code":`, `"worker_id":"` + worker + `"`
)

// MaxJournal bounds a journal that is read, in bytes: thousands of trials fit.
const MaxJournal = 64 << 20

type optunaStudy struct {
	Op         int    `json:"op_code"`
	Worker     string `json:"worker_id"`
	Name       string `json:"study_name"`
	Directions []int  `json:"directions"`
}

type optunaTrial struct {
	Op            int                `json:"op_code"`
	Worker        string             `json:"worker_id"`
	Study         int                `json:"study_id"`
	Start         *string            `json:"datetime_start"`
	State         int                `json:"state"`
	Value         *float64           `json:"value"`
	Values        *[]float64         `json:"values"`
	Distributions map[string]string  `json:"distributions"`
	Params        map[string]float64 `json:"params"`
	Attributes    map[string]any     `json:"user_attrs"`
	System        map[string]any     `json:"system_attrs"`
	Intermediate  map[string]float64 `json:"intermediate_values"`
}

// Journal returns the trials as a study in the file of Optuna's JournalStorage (JSON lines;
// optuna/storages/journal, versions 3.1 to 5). A trial that a later round of successive halving
// left out is pruned, one without a score has failed. The score of each round is an
// intermediate value at the round's length. Choices that are numbers or booleans are so.
func Journal(name string, ranges []config.Range, rungs int, outcomes []Outcome) ([]byte, error) {
	var out bytes.Buffer
	line := json.NewEncoder(&out)
	if err := line.Encode(optunaStudy{createStudy, worker, name, []int{maximize}}); err != nil {
		return nil, err
	}
	distributions := map[string]string{}
	for _, r := range ranges {
		d, err := distribution(r)
		if err != nil {
			return nil, err
		}
		distributions[r.Key] = d
	}
	var order []int
	of := map[int][]Outcome{}
	for _, o := range outcomes {
		n := o.Trial.Number
		if of[n] == nil {
			order = append(order, n)
		}
		of[n] = append(of[n], o)
	}
	slices.Sort(order)
	for _, n := range order {
		t := optunaTrial{Op: createTrial, Worker: worker, State: failed, Distributions: distributions, System: map[string]any{}, Intermediate: map[string]float64{}}
		last := of[n][len(of[n])-1]
		t.Attributes = map[string]any{"tercet.trial": n, "tercet.run": last.Run}
		for _, o := range of[n] {
			if !o.Lost {
				t.Intermediate[strconv.Itoa(o.Length)] = o.Score
			}
		}
		if !last.Lost {
			t.State, t.Value = complete, &last.Score
			if last.Rung < rungs-1 {
				t.State = pruned
			}
		}
		var err error
		if t.Params, err = internalValues(ranges, last.Trial.Sets); err != nil {
			return nil, err
		}
		if err := line.Encode(t); err != nil {
			return nil, err
		}
	}
	return out.Bytes(), nil
}

// OnlyOurs says whether a journal has lines of Journal alone: Optuna has not continued it.
func OnlyOurs(journal []byte) bool {
	for line := range strings.Lines(string(journal)) {
		if !strings.HasPrefix(line, journalLine) || !strings.Contains(line, journalWorker) {
			return false
		}
	}
	return len(journal) > 0
}

// distribution is Optuna's JSON of a range.
func distribution(r config.Range) (string, error) {
	name, attributes := "FloatDistribution", map[string]any{"step": nil, "low": r.Low, "high": r.High, "log": r.Kind == "log-uniform"}
	switch r.Kind {
	case "integer":
		name, attributes["step"] = "IntDistribution", 1
	case "choice":
		values := make([]any, len(r.Choices))
		for i, c := range r.Choices {
			values[i] = typed(c)
		}
		name, attributes = "CategoricalDistribution", map[string]any{"choices": values}
	}
	b, err := json.Marshal(map[string]any{"name": name, "attributes": attributes})
	return string(b), err
}

// typed is a YAML value as a number, a boolean or null where it is one.
func typed(yaml string) any {
	switch yaml {
	case "null", "~":
		return nil
	case "true", "false":
		return yaml == "true"
	}
	if n, err := strconv.ParseInt(yaml, 10, 64); err == nil {
		return n
	}
	if x, err := strconv.ParseFloat(yaml, 64); err == nil && x-x == 0 {
		return x
	}
	return yaml
}

// internalValues are Optuna's numbers of KEY=VALUE: the number, or the place among the choices.
func internalValues(ranges []config.Range, sets []string) (map[string]float64, error) {
	out := map[string]float64{}
	for i, r := range ranges {
		value := strings.TrimPrefix(sets[i], r.Key+"=")
		if r.Kind == "choice" {
			out[r.Key] = float64(slices.Index(r.Choices, value))
			continue
		}
		x, err := strconv.ParseFloat(value, 64)
		if err != nil {
			return nil, fmt.Errorf("trial value %s is no number", sets[i])
		}
		out[r.Key] = x
	}
	return out, nil
}
