package train

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"tercet/internal/fsx"
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
}

// Reasons of stop events.
const (
	StopEarly       = "early_stop"
	StopCollapse    = "collapse"
	StopInterrupted = "interrupted"
)

// maxLog bounds events.jsonl where all of it is read into memory.
const maxLog = 2 << 30

// Log appends events to events.jsonl.
type Log struct {
	f *os.File
	w *bufio.Writer
}

// OpenLog opens path for appending and drops every event after step, and a last
// line that a killed process left unfinished, so that a resumed run's log reads
// like one run's.
func OpenLog(path string, step int) (*Log, error) {
	f, err := fsx.OpenForUpdate(path, 0o644)
	if err != nil {
		return nil, err
	}
	keep, err := prefix(f, step)
	if err == nil {
		err = f.Truncate(keep)
	}
	if err == nil {
		_, err = f.Seek(keep, io.SeekStart)
	}
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return &Log{f, bufio.NewWriter(f)}, nil
}

// prefix returns the length of the leading whole lines whose events are at most
// at step.
func prefix(r io.Reader, step int) (int64, error) {
	var keep int64
	br := bufio.NewReader(r)
	for {
		line, err := br.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return keep, nil
		}
		if err != nil {
			return 0, err
		}
		var e struct {
			Step *int `json:"step"`
		}
		if json.Unmarshal(bytes.TrimSpace(line), &e) != nil || e.Step == nil || *e.Step > step {
			return keep, nil
		}
		keep += int64(len(line))
	}
}

// Write appends one event.
func (l *Log) Write(e *Event) error {
	b, err := json.Marshal(e)
	if err != nil {
		return fmt.Errorf("event: %w", err)
	}
	l.w.Write(b)
	return l.w.WriteByte('\n')
}

// Flush hands written events to the operating system; Sync waits for the disk.
func (l *Log) Flush() error { return l.w.Flush() }

// Sync flushes and waits until the events are on disk.
func (l *Log) Sync() error {
	if err := l.w.Flush(); err != nil {
		return err
	}
	return l.f.Sync()
}

// Close syncs and closes the file.
func (l *Log) Close() error {
	err := l.Sync()
	if e := l.f.Close(); err == nil {
		err = e
	}
	return err
}

// ReadEvents reads a log; an unfinished last line is passed over.
func ReadEvents(path string) ([]Event, error) {
	b, err := fsx.ReadFile(path, maxLog)
	if err != nil {
		return nil, err
	}
	var list []Event
	for n := 1; ; n++ {
		i := bytes.IndexByte(b, '\n')
		if i < 0 {
			return list, nil
		}
		var e Event
		if err := json.Unmarshal(b[:i], &e); err != nil {
			return list, fmt.Errorf("%s:%d: %w", path, n, err)
		}
		list = append(list, e)
		b = b[i+1:]
	}
}
