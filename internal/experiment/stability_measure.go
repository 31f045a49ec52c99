package experiment

import (
	"context"
	"fmt"

	"tercet/internal/report"
)

// What Measure measures.
const (
	MeasureGap       = "gap"
	MeasureStability = "stability"
	MeasureInfluence = "influence"
)

// MeasureOptions say what is measured of a run and how. Each job reads those that it
// names; 0 takes its default.
type MeasureOptions struct {
	Job        string
	Checkpoint string // gap, influence: "last" or "best"
	Set        string // what is judged on: "test" or "validation"
	Limit      int    // at most so many images of a set; 0 takes all
	Triplets   int    // drawn from a set
	Bootstrap  int    // gap: resamples of its intervals; 0 gives none
	Reference  string // gap: directory of the run that is its control variate; "" for none
	Seed       uint64 // of triplets, resamples and chosen images
	// Repeats is how many training images are replaced, Images which; empty draws
	// them. Replace is what replaces them (stability): see Replacements; or ReplaceTriple
	// alone, with which Repeats counts triplets and Images has three of each.
	Repeats int
	Images  []int
	Replace []string
	Steps   int // influence: optimiser steps from the checkpoint on
	Jobs    int // stability, influence: trainings at once, each on one thread
	// Metric says what is measured of a run of model mahalanobis; OwnRepeats that Repeats
	// is the default, which claims have their own numbers in place of.
	Metric     MetricOptions
	OwnRepeats bool
}

// Measurement is what was measured: the document of a JSON file.
type Measurement interface {
	// File is the document's name in the run's directory.
	File() string
	// Table shows it to people.
	Table() *report.Table
	// Draw makes pictures in dir and returns their paths.
	Draw(dir string) ([]string, error)
	// Cautions say what makes the numbers less than they seem.
	Cautions() []string
}

// Progress is told of a measurement that trains.
type Progress struct {
	Say  Say
	Note func(format string, args ...any)
}

// Measure measures how a run generalises: by the gap between training and test
// triplets, by retraining with replaced images, or by going on from a checkpoint with
// them. An interrupted measurement of the last two goes on where it was.
func (r *Run) Measure(ctx context.Context, o MeasureOptions, p Progress) (Measurement, error) {
	if r.Config.LearnsMetric() {
		return r.metricStability(ctx, o, p)
	}
	switch o.Job {
	case MeasureGap:
		return r.gap(ctx, o, p.Say)
	case MeasureStability:
		return r.stability(ctx, o, p)
	case MeasureInfluence:
		return r.influence(ctx, o, p)
	}
	return nil, fmt.Errorf("unknown measurement %q", o.Job)
}
