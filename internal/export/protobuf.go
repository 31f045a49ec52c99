package export

import (
	"encoding/binary"
	"math"
)

// message is a protocol buffers message that is being written: fields in the order in
// which they are added. Its format is a number and a kind for each field, then its value
// (protobuf.dev, "Encoding").
type message []byte

// Kinds of fields.
const (
	varint  = 0
	bytes32 = 5
	sized   = 2
)

func (m *message) key(field, kind int) {
	*m = binary.AppendUvarint(*m, uint64(field)<<3|uint64(kind))
}

// int adds a whole number.
func (m *message) int(field int, v int64) {
	m.key(field, varint)
	*m = binary.AppendUvarint(*m, uint64(v))
}

// float adds a float32.
func (m *message) float(field int, v float32) {
	m.key(field, bytes32)
	*m = binary.LittleEndian.AppendUint32(*m, math.Float32bits(v))
}

// bytes adds bytes, a text or another message.
func (m *message) bytes(field int, b []byte) {
	m.key(field, sized)
	*m = binary.AppendUvarint(*m, uint64(len(b)))
	*m = append(*m, b...)
}

func (m *message) text(field int, s string) { m.bytes(field, []byte(s)) }

// ints adds whole numbers, each as a field.
func (m *message) ints(field int, list []int) {
	for _, v := range list {
		m.int(field, int64(v))
	}
}
