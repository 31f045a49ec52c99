package run

import (
	"encoding/json"
	"fmt"

	"tercet/internal/engine/mahalanobis"
	"tercet/internal/engine/nn"
	"tercet/internal/record"
	"tercet/internal/safetensors"
	"tercet/internal/train"
)

// MetricFit is a fitted metric and how it was found: the metadata key "metric" of a
// run's checkpoint. Numbers are float64, written so that reading gives the same bits.
type MetricFit struct {
	Dim       int       `json:"dim"`      // d
	Theta     []float64 `json:"theta"`    // svec of w, d(d+1)/2
	Positive  []string  `json:"positive"` // classes whose items were the positives in turn
	Triplets  float64   `json:"triplets"` // in the risk
	Algorithm string    `json:"algorithm"`
	mahalanobis.Reached
	// NegativeMass is the share of the sizes of w's eigenvalues that is below 0. The
	// network embeds by the rest, which is nothing where OnePoint is set: then all images
	// have one embedding.
	NegativeMass float64 `json:"negative_mass"`
	OnePoint     bool    `json:"one_point,omitempty"`
}

// steps are what the fit's progress is counted in: evaluations of rrm, steps of sgd.
func (f *MetricFit) steps() int { return max(f.Evaluations, f.Iterations) }

// writeFit writes the checkpoint of a fitted metric: the network, and the fit in the
// metadata. Equal fits give equal bytes.
func writeFit(path string, m *nn.Model, fit *MetricFit, state train.State, configHash string) error {
	f := &safetensors.File{Meta: map[string]string{"config": configHash}}
	for key, v := range map[string]any{"model": m.Spec(), "state": state, "metric": fit} {
		b, err := json.Marshal(v)
		if err != nil {
			return fmt.Errorf("%s: %s: %w", path, key, err)
		}
		f.Meta[key] = string(b)
	}
	for _, p := range m.Params() {
		f.Tensors = append(f.Tensors, safetensors.Tensor{Name: "model/" + p.Name, Shape: p.Value.Shape, Data: p.Value.Data})
	}
	return train.WriteFile(path, "", f)
}

// Fit returns the fitted metric of a checkpoint of the run.
//
// Errors: a checkpoint that is not there, belongs to another config, or holds no
// metric whose sizes fit.
func (r *Run) Fit(checkpoint string) (*MetricFit, error) {
	c, err := r.Checkpoint(checkpoint)
	if err != nil {
		return nil, err
	}
	path := r.CheckpointPath(checkpoint)
	text, ok := c.Meta("metric")
	if !ok {
		return nil, fmt.Errorf("%w: %s: no metadata metric: the model %s is not fitted", train.ErrCheckpoint, path, c.Spec.Name)
	}
	fit := new(MetricFit)
	if err := json.Unmarshal([]byte(text), fit); err != nil {
		return nil, fmt.Errorf("%w: %s: metadata metric: %s", train.ErrCheckpoint, path, record.Words(err))
	}
	if d := c.Spec.Embedding; fit.Dim != d || len(fit.Theta) != d*(d+1)/2 {
		return nil, fmt.Errorf("%w: %s: metadata metric: %d numbers of a %d x %d matrix, and the network embeds in %d dimensions", train.ErrCheckpoint, path, len(fit.Theta), fit.Dim, fit.Dim, d)
	}
	return fit, nil
}
