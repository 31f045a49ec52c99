package tensorboard

import (
	"encoding/binary"
	"hash/crc32"
	"io"
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// masked is the checksum of records: a CRC of bytes that themselves hold CRCs would be weak.
func masked(b []byte) uint32 {
	c := crc32.Checksum(b, castagnoli)
	return (c>>15 | c<<17) + 0xa282ead8
}

// writeRecord writes a record of a TFRecord file: length, its checksum, data, their checksum.
func writeRecord(w io.Writer, data []byte) error {
	head := binary.LittleEndian.AppendUint64(nil, uint64(len(data)))
	out := binary.LittleEndian.AppendUint32(head, masked(head))
	out = append(out, data...)
	_, err := w.Write(binary.LittleEndian.AppendUint32(out, masked(data)))
	return err
}
