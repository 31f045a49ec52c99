package torchfile

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"strconv"

	"tercet/internal/safetensors"
)

// archiveName is the folder of all entries of a written file.
const archiveName = "weights/"

// Write writes tensors as torch.save writes a state dictionary: an OrderedDict in a zip
// file without compression, that torch.load reads with weights_only too. Equal tensors
// give equal bytes.
func Write(w io.Writer, tensors []safetensors.Tensor) error {
	out := &counter{w: w}
	z := zip.NewWriter(out)
	pickle, err := pickleOf(tensors)
	if err != nil {
		return err
	}
	put := func(name string, write func(io.Writer) error) error {
		e, err := aligned(z, out, name)
		if err != nil {
			return err
		}
		return write(e)
	}
	text := func(b []byte) func(io.Writer) error {
		return func(w io.Writer) error {
			_, err := w.Write(b)
			return err
		}
	}
	if err := put("data.pkl", text(pickle)); err != nil {
		return err
	}
	for i := range tensors {
		if err := put("data/"+strconv.Itoa(i), func(w io.Writer) error { return safetensors.WriteNumbers(w, tensors[i]) }); err != nil {
			return err
		}
	}
	if err := put("version", text([]byte("3\n"))); err != nil {
		return err
	}
	return z.Close()
}

// counter counts the bytes written.
type counter struct {
	w io.Writer
	n int64
}

func (c *counter) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	c.n += int64(n)
	return n, err
}

// aligned begins an entry whose content begins at a multiple of 64 bytes, as PyTorch's
// does: the extra field of its header has a record FB of the bytes that are missing.
func aligned(z *zip.Writer, out *counter, name string) (io.Writer, error) {
	if err := z.Flush(); err != nil {
		return nil, err
	}
	h := &zip.FileHeader{Name: archiveName + name, Method: zip.Store}
	const header, record, sums = 30, 4, 16
	at := out.n + header + int64(len(h.Name)) + record
	if out.n > 0 {
		at += sums // of the entry before, which are written when this one begins
	}
	gap := 64 - at%64
	h.Extra = binary.LittleEndian.AppendUint16([]byte("FB"), uint16(gap))
	h.Extra = append(h.Extra, bytes.Repeat([]byte("Z"), int(gap))...)
	return z.CreateHeader(h)
}

// pickleOf is the pickle of an OrderedDict of the tensors, tensor i in storage i.
func pickleOf(tensors []safetensors.Tensor) ([]byte, error) {
	const dictionary = "ccollections\nOrderedDict\n)R"
	b := []byte("\x80\x02" + dictionary + "(")
	for i, t := range tensors {
		n := len(t.Data)
		if n > math.MaxInt32 {
			return nil, fmt.Errorf("tensor %s has %d numbers; a file of PyTorch holds at most %d", t.Name, n, math.MaxInt32)
		}
		class := "FloatStorage"
		if t.Integers {
			class = "LongStorage"
		}
		b = appendText(b, t.Name)
		b = append(b, "ctorch._utils\n_rebuild_tensor_v2\n(("...)
		b = appendText(b, "storage")
		b = append(b, "ctorch\n"+class+"\n"...)
		b = appendText(b, strconv.Itoa(i))
		b = appendText(b, "cpu")
		b = append(appendNumber(b, n), "tQ"...)
		b = appendNumber(b, 0)
		b = appendNumbers(b, t.Shape)
		strides := make([]int, len(t.Shape))
		for a, step := len(t.Shape)-1, 1; a >= 0; a-- {
			strides[a] = step
			step *= t.Shape[a]
		}
		b = append(appendNumbers(b, strides), "\x89"+dictionary+"tR"...)
	}
	return append(b, "u."...), nil
}

func appendText(b []byte, s string) []byte {
	return append(binary.LittleEndian.AppendUint32(append(b, 'X'), uint32(len(s))), s...)
}

func appendNumber(b []byte, n int) []byte {
	return binary.LittleEndian.AppendUint32(append(b, 'J'), uint32(n))
}

func appendNumbers(b []byte, list []int) []byte {
	b = append(b, '(')
	for _, n := range list {
		b = appendNumber(b, n)
	}
	return append(b, 't')
}
