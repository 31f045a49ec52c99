// Package protobuf writes protocol buffers, without descriptions of messages.
package protobuf

import (
	"encoding/binary"
	"math"
)

// Message is a protocol buffers message that is being written: fields in the order in
// which they are added. Its format is a number and a kind for each field, then its value
// (protobuf.dev, "Encoding").
type Message []byte

// Kinds of fields.
const (
	varint  = 0
	bytes64 = 1
	sized   = 2
	bytes32 = 5
)

func (m *Message) key(field, kind int) {
	*m = binary.AppendUvarint(*m, uint64(field)<<3|uint64(kind))
}

// Int adds a whole number.
func (m *Message) Int(field int, v int64) {
	m.key(field, varint)
	*m = binary.AppendUvarint(*m, uint64(v))
}

// Float adds a float32.
func (m *Message) Float(field int, v float32) {
	m.key(field, bytes32)
	*m = binary.LittleEndian.AppendUint32(*m, math.Float32bits(v))
}

// Double adds a float64.
func (m *Message) Double(field int, v float64) {
	m.key(field, bytes64)
	*m = binary.LittleEndian.AppendUint64(*m, math.Float64bits(v))
}

// Doubles adds a packed list.
func (m *Message) Doubles(field int, list []float64) {
	var b []byte
	for _, v := range list {
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(v))
	}
	m.Bytes(field, b)
}

// Begin begins bytes of that length, which the caller writes behind the message.
func (m *Message) Begin(field, length int) {
	m.key(field, sized)
	*m = binary.AppendUvarint(*m, uint64(length))
}

// Bytes adds bytes, a text or another message.
func (m *Message) Bytes(field int, b []byte) {
	m.Begin(field, len(b))
	*m = append(*m, b...)
}

// Text adds a text.
func (m *Message) Text(field int, s string) { m.Bytes(field, []byte(s)) }

// Ints adds whole numbers, each as a field.
func (m *Message) Ints(field int, list []int) {
	for _, v := range list {
		m.Int(field, int64(v))
	}
}
