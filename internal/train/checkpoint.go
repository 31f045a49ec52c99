package train

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"tercet/internal/engine/adversary"
	"tercet/internal/engine/loss"
	"tercet/internal/engine/nn"
	"tercet/internal/engine/optim"
	"tercet/internal/fsx"
	"tercet/internal/record"
	"tercet/internal/rng"
	"tercet/internal/safetensors"
)

// ErrCheckpoint is wrapped by errors about a checkpoint that cannot be used.
var ErrCheckpoint = errors.New("unusable checkpoint")

// Checkpoint is a file that holds all a run needs to continue, or to embed:
// tensors "model/<parameter>" and "optim/<state>", and metadata.
type Checkpoint struct {
	Spec   nn.Spec // of the model
	State  State
	Config string // hash of the config it belongs to
	// Threshold is the Euclidean distance up to which the loss counts two embeddings
	// as of one class; nil where it fixes none.
	Threshold *float64
	// Sealed says that the file has a digest, and matches it; those of older versions
	// have none.
	Sealed bool
	file   *safetensors.File
}

// Meta returns a further text of the metadata.
func (c *Checkpoint) Meta(key string) (string, bool) {
	text, ok := c.file.Meta[key]
	return text, ok
}

// WriteCheckpoint replaces path by the trainer's present state. What path was is kept
// as previous, unless that is "". Equal states give equal bytes.
func (t *Trainer) WriteCheckpoint(path, previous string, spec nn.Spec, configHash string) error {
	f, err := t.checkpoint(spec, configHash)
	if err != nil {
		return err
	}
	return WriteFile(path, previous, f)
}

// WriteFile replaces path by the checkpoint f, whose format it sets, with a digest.
// What path was is kept as previous, unless that is "": from then on path and previous
// are both whole files.
func WriteFile(path, previous string, f *safetensors.File) error {
	f.Meta["format"] = record.CheckpointFormat
	out, err := fsx.Create(path, 0o644)
	if err != nil {
		return err
	}
	defer out.Abort()
	if err := safetensors.WriteSealed(out, f); err != nil {
		return fmt.Errorf("write %s: %w (the file is as it was before)", path, err)
	}
	if previous != "" {
		if err := fsx.Keep(path, previous); err != nil {
			return err
		}
	}
	return out.Commit()
}

// WriteAs writes the checkpoint to path as one of another config.
func (c *Checkpoint) WriteAs(path, configHash string) error {
	f := *c.file
	f.Meta = maps.Clone(f.Meta)
	f.Meta["config"] = configHash
	delete(f.Meta, "digest") // of the file that it was
	return WriteFile(path, "", &f)
}

// checkpoint is the content of a checkpoint of the present state.
func (t *Trainer) checkpoint(spec nn.Spec, configHash string) (*safetensors.File, error) {
	f := &safetensors.File{Meta: map[string]string{"config": configHash}}
	state := t.State
	if t.LogEvery > 0 && t.window.Steps > 0 {
		state.Window = &t.window
	}
	for key, v := range map[string]any{"model": spec, "state": state} {
		b, err := json.Marshal(v)
		if err != nil {
			return nil, err
		}
		f.Meta[key] = string(b)
	}
	mined, err := t.Mined.MarshalBinary()
	if err != nil {
		return nil, err
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
	t.storeAverage(f)
	if p, ok := t.Objective.(loss.Parametric); ok {
		for _, p := range p.Params() {
			f.Tensors = append(f.Tensors, safetensors.Tensor{Name: p.Name, Shape: p.Value.Shape, Data: p.Value.Data})
		}
		classes, err := json.Marshal(t.Classes)
		if err != nil {
			return nil, err
		}
		f.Meta["loss.classes"] = string(classes)
	}
	if t.Memory != nil {
		if err := t.Memory.store(f); err != nil {
			return nil, err
		}
	}
	for _, s := range t.Optimizer.State() {
		f.Tensors = append(f.Tensors, safetensors.Tensor{Name: "optim/" + s.Name, Shape: s.Shape, Data: s.Data})
	}
	return f, nil
}

// ReadCheckpoint reads and checks path. Its errors wrap ErrCheckpoint, and
// fs.ErrNotExist where there is no file.
func ReadCheckpoint(path string) (*Checkpoint, error) {
	f, err := safetensors.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrCheckpoint, err)
	}
	c, err := parseCheckpoint(f)
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrCheckpoint, path, err)
	}
	return c, nil
}

// ParseCheckpoint is ReadCheckpoint of a file's bytes.
func ParseCheckpoint(b []byte) (*Checkpoint, error) {
	f, err := safetensors.Parse(b)
	if err == nil {
		var c *Checkpoint
		if c, err = parseCheckpoint(f); err == nil {
			return c, nil
		}
	}
	return nil, fmt.Errorf("%w: %w", ErrCheckpoint, err)
}

func parseCheckpoint(f *safetensors.File) (*Checkpoint, error) {
	switch got := f.Meta["format"]; {
	case got != record.CheckpointFormat && got != record.UnsealedCheckpointFormat:
		return nil, fmt.Errorf("format %q; this version reads %s and %s", got, record.CheckpointFormat, record.UnsealedCheckpointFormat)
	case got == record.CheckpointFormat && !f.Sealed:
		return nil, fmt.Errorf("no metadata digest: the file was damaged or changed after it was written")
	}
	c := &Checkpoint{Config: f.Meta["config"], Sealed: f.Sealed, file: f}
	for key, v := range map[string]any{"model": &c.Spec, "state": &c.State} {
		dec := json.NewDecoder(bytes.NewReader([]byte(f.Meta[key])))
		dec.DisallowUnknownFields()
		if err := dec.Decode(v); err != nil {
			return nil, fmt.Errorf("metadata %s: %s", key, record.Words(err))
		}
	}
	if err := c.State.check(); err != nil {
		return nil, fmt.Errorf("metadata %w", err)
	}
	if text, ok := f.Meta["threshold"]; ok {
		tau, err := strconv.ParseFloat(text, 64)
		if err != nil || !(tau > 0) || math.IsInf(tau, 0) {
			return nil, fmt.Errorf("metadata threshold is %q, want a distance > 0", text)
		}
		c.Threshold = &tau
	}
	return c, finiteTensors(f.Tensors)
}

// LoadModel builds the checkpoint's network with its weights, or their average where the
// run keeps one. A network with more
// numbers than the file has is refused before it takes memory.
func (c *Checkpoint) LoadModel() (*nn.Model, error) {
	weights := 0
	for _, t := range c.file.Tensors {
		if strings.HasPrefix(t.Name, "model/") {
			weights += len(t.Data)
		}
	}
	m, err := nn.BuildWithin(c.Spec, weights, rng.New(0, "unused"))
	if err != nil {
		return nil, fmt.Errorf("%w: the file has weights of %d numbers: %w", ErrCheckpoint, weights, err)
	}
	return m, c.fill(c.network(), m.Params())
}

// fill copies the checkpoint's weights and buffers, whose names begin with that, into
// params.
func (c *Checkpoint) fill(begin string, params []*nn.Param) error {
	for _, p := range params {
		t := c.file.Find(begin + p.Name)
		if t == nil {
			return fmt.Errorf("%w: no tensor %s%s", ErrCheckpoint, begin, p.Name)
		}
		if err := p.Value.SameShape(begin+p.Name, t.Shape...); err != nil {
			return fmt.Errorf("%w: %w", ErrCheckpoint, err)
		}
		copy(p.Value.Data, t.Data)
	}
	return nil
}

// Resume puts the checkpoint's weights, optimizer, streams and position into t,
// whose model and optimizer must be built as they were.
func (c *Checkpoint) Resume(t *Trainer) error {
	if err := c.fill("model/", t.Model.Params()); err != nil {
		return err
	}
	if err := t.restoreAverage(c); err != nil {
		return err
	}
	if p, ok := t.Objective.(loss.Parametric); ok {
		if err := c.resumeLoss(p, t.Classes); err != nil {
			return err
		}
	}
	if t.Memory != nil {
		if err := t.Memory.restore(c.file, t.Model.Dim()); err != nil {
			return err
		}
	}
	steps, err := strconv.ParseInt(c.file.Meta["optim.steps"], 10, 64)
	if err != nil {
		return fmt.Errorf("%w: metadata optim.steps is %q; want a number of steps", ErrCheckpoint, c.file.Meta["optim.steps"])
	}
	if err := c.State.fits(t.Options, steps); err != nil {
		return fmt.Errorf("%w: metadata %w", ErrCheckpoint, err)
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
		return fmt.Errorf("%w: metadata stream.mine is not the state of a random stream", ErrCheckpoint)
	}
	if d, ok := t.Defense.(adversary.Stateful); ok {
		if err := d.Restore(json.RawMessage(c.file.Meta["defense"])); err != nil {
			return fmt.Errorf("%w: metadata defense: %w", ErrCheckpoint, err)
		}
	}
	t.State, t.window = c.State, window{}
	if w := c.State.Window; w != nil {
		t.window, t.State.Window = *w, nil
		if w.Crafted != nil { // the checkpoint may be resumed from again
			crafted := *w.Crafted
			t.window.Crafted = &crafted
		}
	}
	if s := c.State.Plateau; s != nil {
		plateau := *s
		t.State.Plateau = &plateau
	}
	if s := c.State.Crafted; s != nil {
		crafted := *s
		t.State.Crafted = &crafted
	}
	return nil
}

// resumeLoss fills the parameters of an objective, which must be of the same classes.
func (c *Checkpoint) resumeLoss(p loss.Parametric, classes []string) error {
	var had []string
	if err := json.Unmarshal([]byte(c.file.Meta["loss.classes"]), &had); err != nil {
		return fmt.Errorf("%w: metadata loss.classes is not a list of names", ErrCheckpoint)
	}
	if !slices.Equal(had, classes) {
		return fmt.Errorf("%w: its loss has parameters of %d classes, which are not the %d of the training images", ErrCheckpoint, len(had), len(classes))
	}
	return c.fill("", p.Params())
}
