package noise

import (
	"fmt"

	"tercet/internal/component"
	"tercet/internal/data"
	"tercet/internal/fsx"
	"tercet/internal/record"
)

func init() {
	Family.Register(component.Component[Keys]{Name: Confusion, Doc: "labels change by a matrix of probabilities", Defaults: ConfusionKeys{}})
	Family.Register(component.Component[Keys]{Name: PairFlip, Doc: "labels become the next class's with one probability", Defaults: PairFlipKeys{Rate: 0.2}})
}

// ConfusionKeys replace each training label by a draw from its class's row of a
// matrix.
type ConfusionKeys struct {
	Matrix string  `yaml:"matrix" doc:"CSV file of K rows of K probabilities: row y says what becomes of class y; each sums to 1"`
	Seed   *uint64 `yaml:"seed" doc:"seed of the noise; null: the run's seed"`
}

// Own implements Keys.
func (k ConfusionKeys) Own() *uint64 { return k.Seed }

// Check implements component.Checker.
func (k ConfusionKeys) Check() []component.Fault {
	if k.Matrix == "" {
		return []component.Fault{component.Faultf("matrix", "must be set: a CSV file of K rows of K probabilities")}
	}
	return nil
}

// Relabel implements OnLabels.
func (k ConfusionKeys) Relabel(truth []int32, classes int, seed uint64) ([]int32, record.Noise, error) {
	f, _, err := fsx.OpenRegular(k.Matrix)
	if err != nil {
		return nil, record.Noise{}, fmt.Errorf("%w: noise.matrix: %w", data.ErrMissing, err)
	}
	defer f.Close()
	m, err := readConfusion(f, k.Matrix, classes)
	if err != nil {
		return nil, record.Noise{}, fmt.Errorf("%w: %w", data.ErrFormat, err)
	}
	return ByConfusion(truth, m, seed)
}

// PairFlipKeys turn training labels of class y into y+1, of the last class into
// the first.
type PairFlipKeys struct {
	Rate float64 `yaml:"rate" check:">=0,<=1" doc:"probability that a label is replaced by the next class"`
	Seed *uint64 `yaml:"seed" doc:"seed of the noise; null: the run's seed"`
}

// Own implements Keys.
func (k PairFlipKeys) Own() *uint64 { return k.Seed }

// Relabel implements OnLabels.
func (k PairFlipKeys) Relabel(truth []int32, classes int, seed uint64) ([]int32, record.Noise, error) {
	return Next(truth, classes, k.Rate, seed)
}
