package generalize

import (
	"fmt"

	"tercet/internal/data"
	"tercet/internal/run"
)

// Options are those of every measurement of a network.
type Options struct {
	Set      string // what is evaluated on: "test" or "validation"
	Limit    int    // at most so many images of a set; 0 takes all
	Triplets int    // drawn from a set; 0 takes the default of the measurement
	Seed     uint64 // of triplets, resamples and chosen images
	Force    bool   // replaces a document of the same weights that has more
}

// GapOptions say how the gap is measured.
type GapOptions struct {
	Options
	Checkpoint string  // "last", "best" or "step-N"
	Bootstrap  int     // resamples of the intervals; 0 gives none
	Reference  string  // directory of the run that is the control variate; "" for none
	Delta      float64 // the probability that Theorem 1 is allowed to fail with; 0 takes GapDelta
}

// ReplaceOptions say which training images are replaced, and by what.
type ReplaceOptions struct {
	Options
	// Repeats is how many training images are replaced, 0 StabilityRepeats; Images which,
	// none draws them. Replace is what replaces them: see Replacements; or ReplaceTriple
	// alone, with which Repeats counts triplets and Images has three of each.
	Repeats int
	Images  []int
	Replace []string
	Jobs    int // trainings at once, each on one thread
}

// InfluenceOptions say how influence is measured.
type InfluenceOptions struct {
	ReplaceOptions
	Checkpoint string // from which training continues: "last", "best" or "step-N"
	Steps      int    // optimizer steps from there on; 0 takes InfluenceSteps
}

// ofNetwork refuses a run that has none.
func ofNetwork(r *run.Run, advice string) error {
	if !r.Config.LearnsMetric() {
		return nil
	}
	return fmt.Errorf("%w: %s has model %s%s", data.ErrUnfit, r.Dir, r.Config.Model.Name, advice)
}
