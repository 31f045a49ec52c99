package base

import (
	"errors"
	"fmt"

	"tercet/internal/attack"
	"tercet/internal/attack/retrieval"
	"tercet/internal/cluster"
	"tercet/internal/metric"
	"tercet/internal/option"
	"tercet/internal/record"
	"tercet/internal/run"
	"tercet/internal/train"
)

// RunError gives an error about a run directory its exit code.
func RunError(err error) error {
	var exit *ExitError
	var option *option.Error
	var checkpoint *run.CheckpointError
	var format *record.FormatError
	var schema *record.SchemaError
	switch {
	case errors.As(err, &exit):
		return err
	case errors.As(err, &checkpoint):
		return &ExitError{ExitData, fmt.Errorf("%w: %s", err, insteadOf(checkpoint))}
	case errors.As(err, &option), errors.Is(err, run.ErrOtherRun), errors.Is(err, attack.ErrTooMany):
		return &ExitError{ExitUsage, err}
	case errors.Is(err, run.ErrNoRun), errors.Is(err, train.ErrCheckpoint),
		errors.Is(err, metric.ErrInput), errors.Is(err, cluster.ErrInput), errors.Is(err, retrieval.ErrUnfit):
		return &ExitError{ExitData, err}
	case errors.As(err, &format), errors.As(err, &schema), errors.Is(err, record.ErrDigest):
		return &ExitError{ExitData, err} // a document that cannot be read
	}
	return err
}

// insteadOf says how to continue a run whose last checkpoint cannot be used.
func insteadOf(e *run.CheckpointError) string {
	resume := "`tercet train --resume " + e.Dir + " --from "
	if len(e.Offers) == 0 {
		return resume + run.Start + "` trains from the first step"
	}
	return resume + e.Offers[0].Name + "` continues from it, --from " + run.Start + " trains from the first step"
}
