package export

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"tercet/internal/config"
	"tercet/internal/data"
	"tercet/internal/engine/nn"
	"tercet/internal/fsx"
	"tercet/internal/record"
	"tercet/internal/record/printed"
	"tercet/internal/safetensors"
	"tercet/internal/torchfile"
)

// Torch writes m into dir, which it makes: weights.safetensors and weights.pth, model.py
// and preprocess.json.
func Torch(dir string, m *nn.Model, cfg *config.Config, a About) ([]printed.ExportedFile, error) {
	text, err := Program(m, a)
	if err != nil {
		return nil, err
	}
	images, err := preprocessOf(cfg, m.Spec())
	if err != nil {
		return nil, err
	}
	steps, err := json.MarshalIndent(images, "", "  ")
	if err != nil {
		return nil, err
	}
	state := StateDict(m)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	var out []printed.ExportedFile
	for _, f := range []struct {
		name, holds string
		write       func(w io.Writer) error
	}{
		{"weights.safetensors", "weights under PyTorch's names", func(w io.Writer) error {
			return safetensors.Write(w, &safetensors.File{Meta: map[string]string{"format": "pt"}, Tensors: state})
		}},
		{"weights.pth", "the same, for torch.load", func(w io.Writer) error { return torchfile.Write(w, state) }},
		{"model.py", "the network in PyTorch; load() reads the weights", writes([]byte(text))},
		{"preprocess.json", "how an image becomes its input", writes(append(steps, '\n'))},
	} {
		e, err := write(filepath.Join(dir, f.name), f.holds, f.write)
		if err != nil {
			return nil, err
		}
		out = append(out, e)
	}
	return out, nil
}

// TorchFiles are the paths that Torch writes.
func TorchFiles(dir string) []string {
	var out []string
	for _, name := range []string{"weights.safetensors", "weights.pth", "model.py", "preprocess.json"} {
		out = append(out, filepath.Join(dir, name))
	}
	return out
}

// ONNXFile writes m to path as ONNX.
func ONNXFile(path string, m *nn.Model, a About) ([]printed.ExportedFile, error) {
	e, err := write(path, "the network with its weights", func(w io.Writer) error { return ONNX(w, m, a) })
	return []printed.ExportedFile{e}, err
}

// Existing returns those of the paths where something is.
func Existing(paths []string) []string {
	var out []string
	for _, p := range paths {
		if _, err := os.Lstat(p); !errors.Is(err, fs.ErrNotExist) {
			out = append(out, p)
		}
	}
	return out
}

func writes(b []byte) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := w.Write(b)
		return err
	}
}

// write replaces the file at path and describes it.
func write(path, holds string, fill func(io.Writer) error) (printed.ExportedFile, error) {
	sum, size := sha256.New(), int64(0)
	err := fsx.Write(path, 0o644, func(w io.Writer) error {
		return fill(io.MultiWriter(w, sum, sizer{&size}))
	})
	return printed.ExportedFile{File: path, Holds: holds, Bytes: size, SHA256: hex.EncodeToString(sum.Sum(nil))}, err
}

// sizer counts bytes.
type sizer struct{ n *int64 }

func (s sizer) Write(p []byte) (int, error) {
	*s.n += int64(len(p))
	return len(p), nil
}

// preprocessOf describes the images of a run.
func preprocessOf(cfg *config.Config, s nn.Spec) (printed.Preprocess, error) {
	p := printed.Preprocess{Schema: record.PreprocessSchema, Color: "RGB", Resize: cfg.Data.Size, Interpolation: "bicubic", Antialias: true,
		Crop: cfg.Data.Crop, Height: s.Height, Width: s.Width, Scale: 1. / 255}
	if s.Channels == 1 {
		p.Color = "L"
	}
	if p.Resize > 0 {
		p.Fit = cfg.Data.Fit
	}
	steps := cfg.Data.Transform.Test
	if packed := cfg.Data.Transform.Packed; packed != "" { // what was done before is done by nobody else
		first, err := data.PackedSteps(packed)
		if err != nil {
			return p, err
		}
		steps = slices.Concat([]string{first.String()}, steps)
	}
	if len(steps) > 0 {
		p.Steps, p.Interpolation = steps, ""
	}
	return p, nil
}
