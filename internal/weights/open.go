package weights

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"tercet/internal/data/fault"
	"tercet/internal/engine/nn"
	"tercet/internal/fsx"
	"tercet/internal/record"
	"tercet/internal/safetensors"
	"tercet/internal/torchfile"
)

// Formats of files of weights.
const (
	Safetensors = "safetensors"
	Torch       = "pth"
	Checkpoint  = "checkpoint" // of Tercet: tensors have its order of axes
)

// File is a file of weights in memory.
type File struct {
	Path    string
	SHA256  string
	Format  string
	Wrapper string // keys under which the tensors lie in a .pth file
	Tensors []safetensors.Tensor
}

// Open reads the file at path, whatever its name ends in. Errors wrap fault.ErrMissing
// or fault.ErrFormat.
func Open(path string) (*File, error) {
	f := &File{Path: path}
	head, err := f.sum()
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fault.Missing(nil, "weights: file %s not found", path)
	}
	if err != nil {
		return nil, fault.Of(fault.ErrFormat, err, "weights %s", path)
	}
	if err := f.checkName(); err != nil {
		return nil, err
	}
	if torchfile.Is(head) {
		w, err := torchfile.ReadFile(path)
		if err != nil {
			return nil, fault.Of(fault.ErrFormat, err, "weights")
		}
		f.Format, f.Tensors, f.Wrapper = Torch, w.Tensors, w.Wrapper
		return f, nil
	}
	st, err := safetensors.ReadFile(path)
	if err != nil {
		return nil, fault.Of(fault.ErrFormat, err, "weights")
	}
	f.Format, f.Tensors = Safetensors, st.Tensors
	if format := st.Meta["format"]; format == record.CheckpointFormat || format == record.UnsealedCheckpointFormat {
		return f, f.ofTercet(format == record.CheckpointFormat && !st.Sealed)
	}
	return f, nil
}

// ofTercet keeps the tensors of the network alone.
func (f *File) ofTercet(damaged bool) error {
	if damaged {
		return fault.Bad("weights %s: no metadata digest: the file was damaged or changed after it was written", f.Path)
	}
	var own []safetensors.Tensor
	begin := "model/"
	if slices.ContainsFunc(f.Tensors, func(t safetensors.Tensor) bool { return strings.HasPrefix(t.Name, "ema/") }) {
		begin = "ema/" // the run keeps an average, which is its network
	}
	for _, t := range f.Tensors {
		if name, ok := strings.CutPrefix(t.Name, begin); ok {
			t.Name = name
			own = append(own, t)
		}
	}
	f.Format, f.Tensors = Checkpoint, own
	return nil
}

// AnySize builds the network s for images of some size and of as many channels as the
// file's first convolution has; nil where its weights depend on the size of images, or
// the file has no convolution.
func (f *File) AnySize(s nn.Spec) (*nn.Model, error) {
	for _, t := range f.Tensors {
		if len(t.Shape) != 4 {
			continue
		}
		s.Channels = t.Shape[1] // (O, C, KH, KW)
		if f.Format == Checkpoint {
			s.Channels = t.Shape[2] // (KH, KW, C, O)
		}
		break
	}
	if s.Channels == 0 {
		return nil, nil
	}
	s.Height, s.Width = 64, 64
	m, err := nn.Build(s, nil)
	if err != nil {
		return nil, err
	}
	ops, err := m.Graph()
	if err != nil || slices.ContainsFunc(ops, func(o nn.Op) bool { return o.Kind == nn.OpFlatten }) {
		return nil, nil // a linear layer on all pixels of a map; of a network without steps nothing is known
	}
	return m, nil
}

// sum sets the file's SHA-256 and returns how it begins.
func (f *File) sum() ([]byte, error) {
	r, _, err := fsx.OpenRegular(f.Path)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	head := make([]byte, 512)
	n, err := io.ReadFull(r, head)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, err
	}
	sum := sha256.New()
	sum.Write(head[:n]) // a hash takes all
	if _, err := io.Copy(sum, r); err != nil {
		return nil, err
	}
	f.SHA256 = hex.EncodeToString(sum.Sum(nil))
	return head[:n], nil
}

// ofTorchvision matches the names of torchvision's files, which end in the first eight
// digits of the file's SHA-256.
var ofTorchvision = regexp.MustCompile(`^[a-z]+[0-9]+-([0-9a-f]{8})\.pth$`)

// checkName refuses a file that is not what its name says.
func (f *File) checkName() error {
	m := ofTorchvision.FindStringSubmatch(filepath.Base(f.Path))
	if m == nil || strings.HasPrefix(f.SHA256, m[1]) {
		return nil
	}
	return fault.Bad("weights %s: its name says that its SHA-256 begins with %s, and it begins with %s: the file is damaged, or is not torchvision's; download it again, or rename it", f.Path, m[1], f.SHA256[:8])
}
