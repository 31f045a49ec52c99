package train

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"tercet/internal/engine/adversary"
	"tercet/internal/engine/loss"
	"tercet/internal/engine/nn"
	"tercet/internal/engine/optim"
	"tercet/internal/fsx"
	"tercet/internal/rng"
	"tercet/internal/safetensors"
)

// ErrCheckpoint is wrapped by errors about a checkpoint that cannot be used.
var ErrCheckpoint = errors.New("unusable checkpoint")

// checkpointFormat is the value of the metadata key "format".
const checkpointFormat = "tercet.checkpoint/1"

// Checkpoint is a file that holds all a run needs to go on, or to embed:
// tensors "model/<parameter>" and "optim/<state>", and metadata.
type Checkpoint struct {
	Spec   nn.Spec // of the model
	State  State
	Config string // hash of the config it belongs to
	// Threshold is the Euclidean distance up to which the loss counts two embeddings
	// as of one class; nil where it fixes none.
	Threshold *float64
	file      *safetensors.File
}

// WriteCheckpoint replaces path by the trainer's present state. Equal states
// give equal bytes.
func (t *Trainer) WriteCheckpoint(path string, spec nn.Spec, configHash string) error {
	f := &safetensors.File{Meta: map[string]string{"format": checkpointFormat, "config": configHash}}
	for key, v := range map[string]any{"model": spec, "state": t.State} {
		b, err := json.Marshal(v)
		if err != nil {
			return err
		}
		f.Meta[key] = string(b)
	}
	mined, err := t.Mined.MarshalBinary()
	if err != nil {
		return err
	}
	f.Meta["stream.mine"] = base64.StdEncoding.EncodeToString(mined)
	if d, ok := t.Defense.(adversary.Stateful); ok {
		f.Meta["defense"] = string(d.State())
	}
	if l, ok := t.Objective.(loss.Thresholder); ok {
		f.Meta["threshold"] = strconv.FormatFloat(l.Threshold(), 'g', -1, 64)
	}
	f.Meta["optim.steps"] = strconv.FormatInt(t.Optimizer.Steps(), 10)
	for _, p := range t.Model.Params() {
		f.Tensors = append(f.Tensors, safetensors.Tensor{Name: "model/" + p.Name, Shape: p.Value.Shape, Data: p.Value.Data})
	}
	for _, s := range t.Optimizer.State() {
		f.Tensors = append(f.Tensors, safetensors.Tensor{Name: "optim/" + s.Name, Shape: s.Shape, Data: s.Data})
	}
	return fsx.Write(path, 0o644, func(w io.Writer) error { return safetensors.Write(w, f) })
}

// ReadCheckpoint reads and checks path.
func ReadCheckpoint(path string) (*Checkpoint, error) {
	f, err := safetensors.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrCheckpoint, err)
	}
	if got := f.Meta["format"]; got != checkpointFormat {
		return nil, fmt.Errorf("%w: %s: format %q; this version reads %s", ErrCheckpoint, path, got, checkpointFormat)
	}
	c := &Checkpoint{Config: f.Meta["config"], file: f}
	for key, v := range map[string]any{"model": &c.Spec, "state": &c.State} {
		dec := json.NewDecoder(bytes.NewReader([]byte(f.Meta[key])))
		dec.DisallowUnknownFields()
		if err := dec.Decode(v); err != nil {
			return nil, fmt.Errorf("%w: %s: metadata %q: %w", ErrCheckpoint, path, key, err)
		}
	}
	if text, ok := f.Meta["threshold"]; ok {
		tau, err := strconv.ParseFloat(text, 64)
		if err != nil || !(tau > 0) || math.IsInf(tau, 0) {
			return nil, fmt.Errorf("%w: %s: metadata threshold is %q, want a distance > 0", ErrCheckpoint, path, text)
		}
		c.Threshold = &tau
	}
	return c, nil
}

// LoadModel builds the checkpoint's network with its weights.
func (c *Checkpoint) LoadModel() (*nn.Model, error) {
	m, err := nn.Build(c.Spec, rng.New(0, "unused"))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrCheckpoint, err)
	}
	return m, c.fill(m.Params())
}

// fill copies the checkpoint's weights and buffers into params.
func (c *Checkpoint) fill(params []*nn.Param) error {
	for _, p := range params {
		t := c.file.Find("model/" + p.Name)
		if t == nil {
			return fmt.Errorf("%w: no tensor model/%s", ErrCheckpoint, p.Name)
		}
		if err := p.Value.SameShape("model/"+p.Name, t.Shape...); err != nil {
			return fmt.Errorf("%w: %w", ErrCheckpoint, err)
		}
		copy(p.Value.Data, t.Data)
	}
	return nil
}

// Resume puts the checkpoint's weights, optimiser, streams and position into t,
// whose model and optimiser must be built as they were.
func (c *Checkpoint) Resume(t *Trainer) error {
	if err := c.fill(t.Model.Params()); err != nil {
		return err
	}
	steps, err := strconv.ParseInt(c.file.Meta["optim.steps"], 10, 64)
	if err != nil {
		return fmt.Errorf("%w: metadata optim.steps: %w", ErrCheckpoint, err)
	}
	var state []optim.NamedState
	for _, s := range c.file.Tensors {
		if name, ok := strings.CutPrefix(s.Name, "optim/"); ok {
			state = append(state, optim.NamedState{Name: name, Shape: s.Shape, Data: s.Data})
		}
	}
	if err := t.Optimizer.Restore(steps, state); err != nil {
		return fmt.Errorf("%w: %w", ErrCheckpoint, err)
	}
	mined, err := base64.StdEncoding.DecodeString(c.file.Meta["stream.mine"])
	if err == nil {
		err = t.Mined.UnmarshalBinary(mined)
	}
	if err != nil {
		return fmt.Errorf("%w: metadata stream.mine: %w", ErrCheckpoint, err)
	}
	if d, ok := t.Defense.(adversary.Stateful); ok {
		if err := d.Restore(json.RawMessage(c.file.Meta["defense"])); err != nil {
			return fmt.Errorf("%w: metadata defense: %w", ErrCheckpoint, err)
		}
	}
	t.State = c.State
	return nil
}
