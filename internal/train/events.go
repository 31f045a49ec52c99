package train

import (
	"bufio"
	"encoding/json"
	"fmt"

	"tercet/internal/fsx"
	"tercet/internal/record"
)

// Event is one line of events.jsonl. Kinds: start, resume, step, epoch, eval,
// end, stop. Fields that do not apply are left out.
type Event struct {
	Kind     string             `json:"event"`
	Step     int                `json:"step"`  // optimiser steps done
	Epoch    float64            `json:"epoch"` // epochs done, with fraction
	Loss     *float64           `json:"loss,omitempty"`
	Penalty  *float64           `json:"penalty,omitempty"`
	LR       *float64           `json:"lr,omitempty"`
	Active   *float64           `json:"active,omitempty"` // fraction of tuples with a gradient
	Tuples   int                `json:"tuples,omitempty"`
	Positive *float64           `json:"d_positive,omitempty"`
	Negative *float64           `json:"d_negative,omitempty"`
	Easy     *float64           `json:"easy,omitempty"` // fractions of the mined tuples
	Semihard *float64           `json:"semihard,omitempty"`
	Hard     *float64           `json:"hard,omitempty"`
	Fallback int                `json:"fallback,omitempty"` // anchors that found no wanted tuple
	GradNorm *float64           `json:"grad_norm,omitempty"`
	Cosine   *float64           `json:"cosine,omitempty"`
	Rank     *float64           `json:"effective_rank,omitempty"`
	Crafted  *Crafted           `json:"crafted,omitempty"` // what the defence did since the last step event
	Forward  int64              `json:"forward,omitempty"` // images forwarded so far
	Backward int64              `json:"backward,omitempty"`
	Rate     float64            `json:"images_per_s,omitempty"`
	Seconds  float64            `json:"seconds,omitempty"` // since this process began training
	Metrics  map[string]float64 `json:"metrics,omitempty"`
	Split    string             `json:"split,omitempty"` // of the images that Metrics are of
	Best     bool               `json:"best,omitempty"`
	Coverage any                `json:"coverage,omitempty"`
	Reason   string             `json:"reason,omitempty"` // of stop: StopEarly, ...
	Note     string             `json:"note,omitempty"`
	Version  string             `json:"version,omitempty"` // of start and resume: what trains from here on
	Kernel   string             `json:"kernel,omitempty"`
	CPU      string             `json:"cpu,omitempty"`
}

// Reasons of stop events.
const (
	StopEarly       = "early_stop"
	StopCollapse    = "collapse"
	StopInterrupted = "interrupted"
)

// ReadEvents reads a log; an unfinished last line is passed over.
func ReadEvents(path string) ([]Event, error) {
	var list []Event
	err := EachEvent(path, func(e *Event) { list = append(list, *e) })
	return list, err
}

// EachEvent calls f with the events of a log in turn, as ReadEvents reads them: of a log
// of any size only one is in memory.
func EachEvent(path string, f func(e *Event)) error {
	file, _, err := fsx.OpenRegular(path)
	if err != nil {
		return err
	}
	defer file.Close()
	in := bufio.NewReaderSize(file, maxLine)
	for n := 1; ; n++ {
		line, length, whole, err := readLine(in)
		switch {
		case err != nil:
			return err
		case length > int64(len(line)):
			return fmt.Errorf("%s:%d: the line has more than %d bytes, which no event has", path, n, maxLine)
		case !whole:
			return nil
		}
		var e Event
		if err := json.Unmarshal(line, &e); err != nil {
			return fmt.Errorf("%s:%d: %s", path, n, record.Words(err))
		}
		f(&e)
	}
}
