package torchfile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"tercet/internal/fsx"
	"tercet/internal/lists"
	"tercet/internal/safetensors"
	"tercet/internal/text"
)

// ErrFormat is wrapped by every error about what a file holds.
var ErrFormat = errors.New("not a file of PyTorch tensors that can be read")

// Weights are the tensors of a state dictionary.
type Weights struct {
	Tensors []safetensors.Tensor // in the order of the dictionary
	// Wrapper is the path of keys under which the dictionary lies in the file, such as
	// "state_dict"; empty where the file is the dictionary.
	Wrapper string
	// Others are the keys of the dictionary that hold no tensor.
	Others []string
}

// wrappers are the keys under which programs put a state dictionary.
var wrappers = []string{"state_dict", "model", "model_state_dict"}

// ReadFile reads the file at path, which must be a regular one; see Read. Its errors
// name the path.
func ReadFile(path string) (*Weights, error) {
	f, size, err := fsx.OpenRegular(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	w, err := Read(f, size)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return w, nil
}

// Is says whether a file that begins with head, 512 bytes where it has them, is one of
// torch.save: a zip, a pickle or a tar file.
func Is(head []byte) bool {
	return bytes.HasPrefix(head, []byte("PK\x03\x04")) || len(head) > 1 && head[0] == 0x80 && head[1] < 6 || isTar(head)
}

// isTar says that head is that of a tar file: the container before PyTorch 0.1.10.
func isTar(head []byte) bool { return len(head) > 262 && string(head[257:262]) == "ustar" }

// Read reads the state dictionary in r, of size bytes: the object of the file itself,
// or what lies in it under one of the usual keys. Tensors take at most twice the memory
// of the file. Errors wrap ErrFormat.
func Read(r io.ReaderAt, size int64) (*Weights, error) {
	head := make([]byte, min(size, 512))
	if _, err := r.ReadAt(head, 0); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	var c container
	var err error
	switch {
	case isTar(head):
		return nil, bad("it is a tar file, the container of PyTorch before 0.1.10; load it in a recent PyTorch and save state_dict() again")
	case bytes.HasPrefix(head, []byte("PK\x03\x04")):
		c, err = openZip(r, size)
	default:
		c, err = openStream(r, size)
	}
	if err != nil {
		return nil, err
	}
	w := &Weights{}
	d, err := w.unwrap(c.object)
	if err != nil {
		return nil, err
	}
	if err := w.load(d, c, size); err != nil {
		return nil, err
	}
	return w, nil
}

// container is a file whose pickle has been read and whose storages have not.
type container struct {
	object any
	// open returns the bytes of a storage, exactly as many as it has.
	open func(s *storage) (io.ReadCloser, error)
}

// unwrap returns the state dictionary in object.
func (w *Weights) unwrap(object any) (*dict, error) {
	d, ok := object.(*dict)
	if !ok {
		return nil, bad("it holds %s, not a dictionary of tensors; save state_dict()", kindOf(object))
	}
	for range 3 {
		inner := ""
		for _, key := range wrappers {
			if _, ok := d.get(key).(*dict); ok && inner == "" {
				inner = key
			}
		}
		if inner == "" {
			break
		}
		d, w.Wrapper = d.get(inner).(*dict), strings.TrimPrefix(w.Wrapper+"."+inner, ".")
	}
	if slices.ContainsFunc(d.items, func(i item) bool { _, ok := i.value.(*tensor); return ok }) {
		return d, nil
	}
	keys := lists.Map(d.items, func(i item) string { return keyWords(i.key) + " (" + kindOf(i.value) + ")" })
	if n := len(keys); n > 10 {
		keys = append(keys[:10], fmt.Sprintf("%d others", n-10))
	}
	if len(keys) == 0 {
		keys = []string{"none"}
	}
	return nil, bad("its dictionary holds no tensors; its keys are %s; save the state_dict() of one network", text.List(keys, "and"))
}

func bad(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrFormat, fmt.Sprintf(format, args...))
}
