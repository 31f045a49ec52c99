//go:build linux

package hostile

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// maker makes or changes the file at path.
type maker func(path, args string) error

// makers are the verbs of a table's file lines.
var makers map[string]maker

func init() {
	makers = map[string]maker{
		"text":    content(quoted),
		"repeat":  content(repeated),
		"count":   content(counted),
		"chain":   content(chained),
		"bytes":   content(hexBytes),
		"idx":     content(idx),
		"npy":     content(npy),
		"png":     content(picture),
		"cifar":   content(cifar),
		"tensors": content(tensors),
		"gz":      gzipped,
		"sparse":  sparse,
		"edit":    edit,
		"insert":  insert,
		"cut":     cut,
		"flip":    flip,
		"link":    func(path, args string) error { return replace(path, func() error { return os.Symlink(args, path) }) },
		"fifo":    func(path, _ string) error { return replace(path, func() error { return syscall.Mkfifo(path, 0o644) }) },
		"dir":     func(path, _ string) error { return replace(path, func() error { return os.Mkdir(path, 0o755) }) },
		"remove":  func(path, _ string) error { return os.RemoveAll(path) },
		"mode":    mode,
	}
}

// content writes what write gives, as a stream.
func content(write func(w io.Writer, args string) error) maker {
	return func(path, args string) error {
		return replace(path, func() error {
			f, err := os.Create(path)
			if err != nil {
				return err
			}
			defer f.Close()
			return write(f, args)
		})
	}
}

// replace removes what is at path before it makes something there.
func replace(path string, create func() error) error {
	if err := os.RemoveAll(path); err != nil {
		return err
	}
	return create()
}

// unquote reads Go's escapes: \n, \x00, \u2028.
func unquote(s string) (string, error) {
	text, err := strconv.Unquote(`"` + strings.ReplaceAll(s, `"`, `\"`) + `"`)
	if err != nil {
		return "", fmt.Errorf("%s: %w", s, err)
	}
	return text, nil
}

func quoted(w io.Writer, args string) error {
	text, err := unquote(args)
	if err == nil {
		_, err = io.WriteString(w, text)
	}
	return err
}

// repeated is "N TEXT".
func repeated(w io.Writer, args string) error {
	count, text, _ := strings.Cut(args, " ")
	n, err := strconv.Atoi(count)
	if err != nil {
		return err
	}
	text, err = unquote(text)
	for buf := []byte(strings.Repeat(text, max(1, 1<<16/max(1, len(text))))); err == nil && n > 0; {
		k := min(n, len(buf)/len(text))
		_, err = w.Write(buf[:k*len(text)])
		n -= k
	}
	return err
}

// counted is "N": a line for each of the numbers below it.
func counted(w io.Writer, args string) error {
	n, err := strconv.Atoi(args)
	if err != nil {
		return err
	}
	out := bufio.NewWriter(w)
	var line []byte
	for i := range n {
		line = append(strconv.AppendInt(line[:0], int64(i), 10), '\n')
		out.Write(line) // Flush returns the first error
	}
	return out.Flush()
}

// chained is "N": the graph of N edges, each from a node to the next.
func chained(w io.Writer, args string) error {
	n, err := strconv.Atoi(args)
	if err != nil {
		return err
	}
	out := bufio.NewWriter(w)
	out.WriteString("MULTICUT\n")
	for i := range n {
		fmt.Fprintf(out, "%d %d 1\n", i, i+1) // Flush returns the first error
	}
	return out.Flush()
}

func hexBytes(w io.Writer, args string) error {
	var b []byte
	for _, f := range strings.Fields(args) {
		v, err := strconv.ParseUint(f, 16, 8)
		if err != nil {
			return err
		}
		b = append(b, byte(v))
	}
	_, err := w.Write(b)
	return err
}

// numbers reads integers.
func numbers(fields []string) ([]int, error) {
	var v []int
	for _, f := range fields {
		n, err := strconv.Atoi(f)
		if err != nil {
			return nil, err
		}
		v = append(v, n)
	}
	return v, nil
}

// idx is "DIMS..." or "DIMS... data N": a header of unsigned bytes, and as many
// bytes as it says, or N. Bytes are labels 0 to 3 in turn.
func idx(w io.Writer, args string) error {
	head, tail, limited := strings.Cut(args, " data ")
	dims, err := numbers(strings.Fields(head))
	if err != nil {
		return err
	}
	b := []byte{0, 0, 8, byte(len(dims))}
	n := 1
	for _, d := range dims {
		b = binary.BigEndian.AppendUint32(b, uint32(d))
		n *= d
	}
	if limited {
		if n, err = strconv.Atoi(tail); err != nil {
			return err
		}
	}
	if _, err := w.Write(b); err != nil {
		return err
	}
	return pattern(w, n, func(i int) byte { return byte(i % 4) })
}

// pattern writes n bytes of a function of the index, 64 KiB at a time.
func pattern(w io.Writer, n int, f func(i int) byte) error {
	buf := make([]byte, 1<<16)
	for i := range buf {
		buf[i] = f(i)
	}
	for n > 0 {
		k := min(n, len(buf))
		if _, err := w.Write(buf[:k]); err != nil {
			return err
		}
		n -= k
	}
	return nil
}

// npy is "TYPE SHAPE..." or "TYPE SHAPE... data N": version 1, C order.
func npy(w io.Writer, args string) error {
	head, tail, limited := strings.Cut(args, " data ")
	fields := strings.Fields(head)
	shape, err := numbers(fields[1:])
	if err != nil {
		return err
	}
	size, err := strconv.Atoi(strings.TrimLeft(fields[0], "<>|=fiuUbcS"))
	if err != nil {
		return err
	}
	n := size
	for _, d := range shape {
		n *= d
	}
	if limited {
		if n, err = strconv.Atoi(tail); err != nil {
			return err
		}
	}
	text := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': (%s,), }", fields[0], strings.Join(fields[1:], ", "))
	text += strings.Repeat(" ", 63-(10+len(text))%64) + "\n"
	b := append([]byte("\x93NUMPY\x01\x00"), byte(len(text)), byte(len(text)>>8))
	if _, err := w.Write(append(b, text...)); err != nil {
		return err
	}
	return pattern(w, n, func(i int) byte { return [4]byte{0, byte(i >> 2), 128, 63}[i%4] })
}

// picture is "SIDE [LEVEL]": a gray PNG.
func picture(w io.Writer, args string) error {
	v, err := numbers(strings.Fields(args))
	if err != nil {
		return err
	}
	return png.Encode(w, drawing{v[0], v[len(v)-1]})
}

// drawing is a gray picture that is computed, not held: the peak of the test's memory is
// counted as that of the commands that it starts.
type drawing struct{ side, level int }

func (drawing) ColorModel() color.Model   { return color.GrayModel }
func (d drawing) Bounds() image.Rectangle { return image.Rect(0, 0, d.side, d.side) }
func (d drawing) At(x, y int) color.Color {
	i := y*d.side + x
	return color.Gray{Y: byte(i*i>>3 + 31*d.level)}
}

// cifar is the labels of records.
func cifar(w io.Writer, args string) error {
	labels, err := numbers(strings.Fields(args))
	for _, y := range labels {
		if err == nil {
			_, err = w.Write([]byte{byte(y)})
		}
		if err == nil {
			err = pattern(w, 3072, func(i int) byte { return byte(i + y) })
		}
	}
	return err
}

// tensors is "N HEADER": a safetensors file with that header and N bytes of data.
func tensors(w io.Writer, args string) error {
	count, header, _ := strings.Cut(args, " ")
	n, err := strconv.Atoi(count)
	if err != nil {
		return err
	}
	if _, err := w.Write(binary.LittleEndian.AppendUint64(nil, uint64(len(header)))); err != nil {
		return err
	}
	if _, err := io.WriteString(w, header); err != nil {
		return err
	}
	return pattern(w, n, func(int) byte { return 0 })
}

// gzipped is "VERB ARGS" of a maker of content, compressed.
func gzipped(path, args string) error {
	verb, rest, _ := strings.Cut(args, " ")
	write := map[string]func(io.Writer, string) error{"text": quoted, "repeat": repeated, "idx": idx, "npy": npy}[verb]
	if write == nil {
		return fmt.Errorf("no content %q to compress", verb)
	}
	return content(func(w io.Writer, args string) error {
		z, err := gzip.NewWriterLevel(w, gzip.BestSpeed)
		if err != nil {
			return err
		}
		if err := write(z, args); err != nil {
			return err
		}
		return z.Close()
	})(path, rest)
}

// sparse lets the file end at a size, in bytes.
func sparse(path, args string) error {
	size, err := strconv.ParseInt(args, 10, 64)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return err
	}
	defer f.Close()
	return f.Truncate(size)
}

// edit is "OLD => NEW": the first OLD in the file becomes NEW. It is an error if
// there is none, so that a case does not go stale.
func edit(path, args string) error {
	before, after, ok := strings.Cut(args, " => ")
	if !ok {
		return fmt.Errorf("edit %q lacks =>", args)
	}
	before, err := unquote(before)
	if err != nil {
		return err
	}
	if after, err = unquote(after); err != nil {
		return err
	}
	return change(path, func(b []byte) ([]byte, error) {
		if !bytes.Contains(b, []byte(before)) {
			return nil, fmt.Errorf("%s has no %q", path, before)
		}
		return bytes.Replace(b, []byte(before), []byte(after), 1), nil
	})
}

// insert is "AT TEXT".
func insert(path, args string) error {
	at, text, _ := strings.Cut(args, " ")
	i, err := strconv.Atoi(at)
	if err != nil {
		return err
	}
	if text, err = unquote(text); err != nil {
		return err
	}
	return change(path, func(b []byte) ([]byte, error) {
		return append(append(bytes.Clone(b[:i]), text...), b[i:]...), nil
	})
}

// cut is the number of bytes that stay, or, below 0, that go from the end.
func cut(path, args string) error {
	n, err := strconv.Atoi(args)
	if err != nil {
		return err
	}
	return change(path, func(b []byte) ([]byte, error) {
		if n < 0 {
			n += len(b)
		}
		return b[:n], nil
	})
}

// flip is the byte whose lowest bit changes; below 0 from the end.
func flip(path, args string) error {
	i, err := strconv.Atoi(args)
	if err != nil {
		return err
	}
	return change(path, func(b []byte) ([]byte, error) {
		if i < 0 {
			i += len(b)
		}
		b[i] ^= 1
		return b, nil
	})
}

func change(path string, f func([]byte) ([]byte, error)) error {
	b, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if b, err = f(b); err != nil {
		return err
	}
	return os.WriteFile(path, b, 0o644)
}

func mode(path, args string) error {
	v, err := strconv.ParseUint(args, 8, 32)
	if err != nil {
		return err
	}
	return os.Chmod(path, os.FileMode(v))
}
