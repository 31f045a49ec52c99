package run

import (
	"fmt"

	"tercet/internal/config"
	"tercet/internal/names"
	"tercet/internal/record"
)

// StopsOnTest says whether cfg is stopped by test images, with the sets that it has.
func StopsOnTest(cfg *config.Config, hasValidation bool) bool {
	stop := cfg.Train.EarlyStop
	if stop.Metric == "" || stop.Metric == trainAccuracy {
		return false
	}
	return stop.On == names.Test || !hasValidation
}

// checkStop refuses an early stop without a metric, and one by test images that was not
// asked for. Runs of older
// versions, which had no such key, continue as they began.
func checkStop(cfg *config.Config) error {
	if cfg.Train.EarlyStop.Idle() {
		return &config.Error{Key: "train.early_stop", Msg: "without a metric nothing stops the run: set train.early_stop.metric, such as retrieval.recall@1, or leave out patience and min_delta"}
	}
	if cfg.Train.EarlyStop.On == names.Test || !StopsOnTest(cfg, cfg.Data.Split.Validation > 0) {
		return nil
	}
	return &config.Error{Key: "train.early_stop", Msg: "there are no validation images to stop by: set data.split.validation, such as 0.1, to hold some out (two classes or more where test classes are not trained on), or train.early_stop.on: test to stop by test images, whose scores are too good then"}
}

// selectionOf is the record of a run that evaluates the split by the metric, "" where it
// evaluates none.
func selectionOf(cfg *config.Config, split, metric string) *record.Selection {
	r := &record.Selection{Split: split, Metric: metric}
	if split != names.Test {
		return r
	}
	what := "the best checkpoint"
	if StopsOnTest(cfg, false) {
		what += " and the last step"
	}
	r.Note = fmt.Sprintf("%s: chosen by %s on test images, whose scores are too good then", what, metric)
	return r
}
