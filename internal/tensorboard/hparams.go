package tensorboard

import (
	"strconv"

	"tercet/internal/protobuf"
)

// Param is a hyper-parameter of a run with its value, as text.
type Param struct{ Name, Value string }

// Status is how a session ended, as the plugin hparams counts them.
type Status int64

// The states of sessions.
const (
	Success Status = 1
	Failure Status = 2
	Running Status = 3
)

// Session is a run for the plugin hparams. Sessions of one group are one row of its table:
// runs that differ in their seeds alone.
type Session struct {
	Group      string
	Params     []Param
	Metrics    []string // tags of scalars that are compared
	Start, End float64  // seconds since 1970
	Status     Status
}

// HParams writes the hyper-parameters of a run. Values that are numbers are so in
// TensorBoard, all others are texts.
func (w *Writer) HParams(s Session) {
	var experiment, start, end protobuf.Message
	for _, p := range s.Params {
		var info protobuf.Message
		info.Text(1, p.Name)
		kind := int64(1)
		if _, ok := number(p.Value); ok {
			kind = 3
		} else if p.Value == "true" || p.Value == "false" {
			kind = 2
		}
		info.Int(4, kind)
		experiment.Bytes(4, info)
	}
	for _, tag := range s.Metrics {
		var name, info protobuf.Message
		name.Text(2, tag)
		info.Bytes(1, name)
		experiment.Bytes(5, info)
	}
	for _, p := range s.Params {
		var entry protobuf.Message
		entry.Text(1, p.Name)
		entry.Bytes(2, value(p.Value))
		start.Bytes(1, entry)
	}
	start.Text(4, s.Group)
	start.Double(5, s.Start)
	end.Int(1, int64(s.Status))
	end.Double(2, s.End)
	for _, part := range []struct {
		tag   string
		field int
		m     protobuf.Message
	}{{"experiment", 2, experiment}, {"session_start_info", 3, start}, {"session_end_info", 4, end}} {
		var data, v, tensor, dim, shape protobuf.Message
		data.Bytes(part.field, part.m)
		dim.Int(1, 1)
		shape.Bytes(2, dim)
		tensor.Int(1, 1) // one float of no meaning: the content is in the metadata
		tensor.Bytes(2, shape)
		tensor.Bytes(5, make([]byte, 4))
		v.Text(1, "_hparams_/"+part.tag)
		v.Bytes(8, tensor)
		v.Bytes(9, plugin("hparams", data))
		w.value(s.Start, 0, v)
	}
}

// value is a google.protobuf.Value: a number, a truth value or a text.
func value(text string) protobuf.Message {
	var m protobuf.Message
	switch x, ok := number(text); {
	case ok:
		m.Double(2, x)
	case text == "true":
		m.Int(4, 1)
	case text == "false":
		m.Int(4, 0)
	default:
		m.Text(3, text)
	}
	return m
}

func number(text string) (float64, bool) {
	x, err := strconv.ParseFloat(text, 64)
	return x, err == nil && x-x == 0
}
