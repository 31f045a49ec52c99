package generalize

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"tercet/internal/data"
	"tercet/internal/generalize/metric"
	"tercet/internal/progress"
	"tercet/internal/render"
	"tercet/internal/run"
)

// What Measure measures.
const (
	MeasureGap       = "gap"
	MeasureStability = "stability"
	MeasureInfluence = "influence"
)

// Options say what is measured of a run and how. Each job reads those that it
// names; 0 takes its default.
type Options struct {
	Job        string
	Checkpoint string // gap, influence: "last" or "best"
	Set        string // what is evaluated on: "test" or "validation"
	Limit      int    // at most so many images of a set; 0 takes all
	Triplets   int    // drawn from a set
	Bootstrap  int    // gap: resamples of its intervals; 0 gives none
	Reference  string // gap: directory of the run that is its control variate; "" for none
	// Delta is the probability that Theorem 1 is allowed to fail with (gap of a network);
	// 0 takes GapDelta.
	Delta float64
	Seed  uint64 // of triplets, resamples and chosen images
	// Force replaces a document of the same weights that has more (of a network).
	Force bool
	// Repeats is how many training images are replaced, Images which; empty draws
	// them. Replace is what replaces them (stability): see Replacements; or ReplaceTriple
	// alone, with which Repeats counts triplets and Images has three of each.
	Repeats int
	Images  []int
	Replace []string
	Steps   int // influence: optimizer steps from the checkpoint on
	Jobs    int // stability, influence: trainings at once, each on one thread
	// Metric says what is measured of a run of model mahalanobis; OwnRepeats that Repeats
	// is the default, which claims have their own numbers in place of.
	Metric     metric.Options
	OwnRepeats bool
}

// Measurement is what was measured: the document of a JSON file.
type Measurement interface {
	// File is the document's name in the run's directory.
	File() string
	// Table shows it to people.
	Table() *render.Table
	// Draw makes pictures in dir and returns their paths.
	Draw(dir string) ([]string, error)
	// Cautions say what makes the numbers less than they seem.
	Cautions() []string
}

// pictured is a Measurement that Draw draws under fixed names.
type pictured interface {
	pictures() []string // in the folder of figures
}

// Undraw removes the pictures of an earlier measurement of the kind of m from dir: they
// do not show what is in the document now.
func Undraw(m Measurement, dir string) error {
	p, ok := m.(pictured)
	if !ok {
		return nil
	}
	for _, name := range p.pictures() {
		if err := os.Remove(filepath.Join(dir, name)); err != nil && !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("old picture: %w", err)
		}
	}
	return nil
}

// Measure measures how a run generalizes: by the gap between training and test
// triplets, by retraining with replaced images, or by going on from a checkpoint with
// them. An interrupted measurement of the last two resumes where it was.
//
// Errors: *KeptError, before the work, where the network's document of the same weights
// has more, unless o.Force is set.
func Measure(ctx context.Context, r *run.Run, o Options, p progress.Progress) (Measurement, error) {
	if r.Config.LearnsMetric() {
		return measureMetric(ctx, r, o, p)
	}
	switch o.Job {
	case MeasureGap:
		return gap(ctx, r, o, p.Say)
	case MeasureStability:
		return stability(ctx, r, o, p)
	case MeasureInfluence:
		return influence(ctx, r, o, p)
	}
	return nil, fmt.Errorf("unknown measurement %q", o.Job)
}

// measureMetric measures a run of model mahalanobis; o.Metric's options that both kinds of
// models have are those of o.
func measureMetric(ctx context.Context, r *run.Run, o Options, p progress.Progress) (Measurement, error) {
	if o.Job != MeasureGap && o.Job != MeasureStability {
		return nil, fmt.Errorf("%w: %s has model %s: use tercet stability, which measures how far one item moves it", data.ErrUnfit, r.Dir, r.Config.Model.Name)
	}
	m := o.Metric
	m.Gap, m.Checkpoint, m.Triplets, m.Seed, m.Force = o.Job == MeasureGap, o.Checkpoint, o.Triplets, o.Seed, o.Force
	m.Repeats, m.OwnRepeats = o.Repeats, o.OwnRepeats
	return metric.Measure(ctx, r, m, p)
}
