package run

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"tercet/internal/config"
	"tercet/internal/record"
	"tercet/internal/run/tinytest"
	"tercet/internal/train"
)

const stopsByNMI = "train.early_stop={metric: clustering.nmi, patience: 1}"

// An early stop by test images is refused unless it is asked for, both ways out named.
func TestEarlyStopByTestImagesMustBeAskedFor(t *testing.T) {
	for sets, ok := range map[string]bool{
		stopsByNMI: false, stopsByNMI + "|train.early_stop.on=test": true, stopsByNMI + "|data.split.validation=0.5": true, "": true,
	} {
		cfg := tinytest.Config(t, strings.FieldsFunc(sets, func(r rune) bool { return r == '|' })...)
		err := CheckConfig(cfg)
		var wrong *config.Error
		if ok && err != nil || !ok && (!errors.As(err, &wrong) || wrong.Key != "train.early_stop" || !strings.Contains(err.Error(), "set data.split.validation") || !strings.Contains(err.Error(), "train.early_stop.on: test")) {
			t.Errorf("%s: error %v", sets, err)
		}
	}
}

// Patience without a metric stops nothing, which is said.
func TestPatienceWithoutAMetricIsRefused(t *testing.T) {
	for _, set := range []string{"train.early_stop.patience=2", "train.early_stop.min_delta=0.1"} {
		if err := CheckConfig(tinytest.Config(t, set)); err == nil || !strings.Contains(err.Error(), "set train.early_stop.metric") {
			t.Errorf("%s: %v", set, err)
		}
	}
}

// An early stop is an event and stands in the manifest, with what it was chosen by.
func TestEarlyStopIsRecorded(t *testing.T) {
	for split, sets := range map[string][]string{
		"validation": {"data.split.validation=0.5"},
		"test":       {"train.early_stop.on=test"},
	} {
		var notes []string
		r := create(t, t.TempDir(), append(sets, stopsByNMI, "train.epochs=30", "train.eval_samples=0")...)
		if _, err := r.Train(context.Background(), Watch{Note: func(f string, a ...any) { notes = append(notes, fmt.Sprintf(f, a...)) }}); err != nil {
			t.Fatal(err)
		}
		m := r.Manifest
		reason := "nmi on " + split + " images has not improved for 1 evaluation"
		if m.Status != record.Finished || m.Stopped == nil || m.Stopped.Step != m.Steps || m.Steps >= m.Of || m.Stopped.Reason != reason {
			t.Errorf("%s: %+v, stopped %+v", split, m, m.Stopped)
		}
		if s := m.Selection; s == nil || s.Split != split || s.Metric != "nmi" || (s.Note != "") != (split == "test") {
			t.Errorf("%s: selection %+v", split, s)
		}
		if text := strings.Join(notes, "\n"); strings.Contains(text, "the best checkpoint and the last step: chosen by nmi on test images") != (split == "test") || strings.Contains(text, "held-out") {
			t.Errorf("%s: notes %s", split, text)
		}
		events, err := train.ReadEvents(r.Path("events.jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		stops := 0
		for _, e := range events {
			if e.Kind == "stop" {
				stops++
				if e.Step != m.Steps || e.Reason != train.StopEarly || e.Note != reason {
					t.Errorf("%s: event %+v", split, e)
				}
			}
			if e.Kind == "eval" && e.Split != split {
				t.Errorf("%s: evaluated on %q", split, e.Split)
			}
		}
		if stops != 1 || events[len(events)-1].Kind != "end" {
			t.Errorf("%s: %d stop events, the last is %s", split, stops, events[len(events)-1].Kind)
		}
		if again, err := Open(r.Dir); err != nil || again.Manifest.Stopped == nil {
			t.Errorf("%s: read again: %v", split, err)
		} else if done, err := again.Train(context.Background(), Watch{}); !done || err != nil {
			t.Errorf("%s: trained again: done %v, %v", split, done, err)
		}
	}
}

// Without an early stop the best checkpoint alone is chosen on test images, and said so.
func TestTheBestCheckpointOnTestImagesIsSaid(t *testing.T) {
	r := trained(t, t.TempDir())
	if s := r.Manifest.Selection; s == nil || s.Split != "test" || s.Note != "the best checkpoint: chosen by recall@1 on test images, whose scores are too good then" || r.Manifest.Stopped != nil {
		t.Errorf("%+v", s)
	}
}
