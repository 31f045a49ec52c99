package tensorboard

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"

	"tercet/internal/protobuf"
)

// Writer writes one event file. Its first error stays; Err returns it.
type Writer struct {
	w   io.Writer
	err error
}

// NewWriter begins an event file; wall is the time in seconds since 1970.
func NewWriter(w io.Writer, wall float64) *Writer {
	out := &Writer{w: w}
	var e protobuf.Message
	e.Double(1, wall)
	e.Text(3, "brain.Event:2")
	out.record(e)
	return out
}

// FileName is the name of an event file that begins at a time. TensorBoard reads any file
// with "tfevents" in its name; host and process are left out, so that the name is always the
// same.
func FileName(wall float64) string {
	return strings.Replace(Files, "*", fmt.Sprintf("%010d", int64(wall)), 1)
}

// Files is a glob of such names.
const Files = "events.out.tfevents.*.tercet.0.0"

// Err is the first error of the file below.
func (w *Writer) Err() error { return w.err }

func (w *Writer) record(data []byte) {
	if w.err == nil {
		w.err = writeRecord(w.w, data)
	}
}

// value writes an event with one value of a summary.
func (w *Writer) value(wall float64, step int64, v protobuf.Message) {
	var s, e protobuf.Message
	s.Bytes(1, v)
	e.Double(1, wall)
	e.Int(2, step)
	e.Bytes(5, s)
	w.record(e)
}

// plugin is the metadata of a value: which plugin shows it, with what content.
func plugin(name string, content []byte) protobuf.Message {
	var p, m protobuf.Message
	p.Text(1, name)
	if content != nil {
		p.Bytes(2, content)
	}
	m.Bytes(1, p)
	return m
}

// Scalar writes a number of a step.
func (w *Writer) Scalar(wall float64, step int64, tag string, x float64) {
	// As TensorBoard's own writers put it: a tensor without dimensions.
	var t, v protobuf.Message
	t.Int(1, 1)
	t.Bytes(2, nil)
	t.Bytes(4, binary.LittleEndian.AppendUint32(nil, math.Float32bits(float32(x))))
	v.Text(1, tag)
	v.Bytes(8, t)
	v.Bytes(9, plugin("scalars", nil))
	w.value(wall, step, v)
}

// Image writes a PNG picture.
func (w *Writer) Image(wall float64, step int64, tag string, width, height int, png []byte) {
	var i, v protobuf.Message
	i.Int(1, int64(height))
	i.Int(2, int64(width))
	i.Int(3, 4)
	i.Bytes(4, png)
	v.Text(1, tag)
	v.Bytes(4, i)
	w.value(wall, step, v)
}

// Histogram is how many values are up to each limit and above the one before.
type Histogram struct {
	Min, Max, Sum, SumSquares float64
	Limits, Counts            []float64 // limits rise
}

// Histogram writes the distribution of many values.
func (w *Writer) Histogram(wall float64, step int64, tag string, h Histogram) {
	if len(h.Limits) != len(h.Counts) || len(h.Limits) == 0 {
		w.err = errors.Join(w.err, fmt.Errorf("histogram %s: %d limits and %d counts", tag, len(h.Limits), len(h.Counts)))
		return
	}
	num := 0.0
	for _, n := range h.Counts {
		num += n
	}
	var m, v protobuf.Message
	m.Double(1, h.Min)
	m.Double(2, h.Max)
	m.Double(3, num)
	m.Double(4, h.Sum)
	m.Double(5, h.SumSquares)
	m.Doubles(6, h.Limits)
	m.Doubles(7, h.Counts)
	v.Text(1, tag)
	v.Bytes(5, m)
	w.value(wall, step, v)
}
