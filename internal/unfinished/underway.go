package unfinished

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"hash/crc32"
	"io"
	"math"
	"os"

	"tercet/internal/fsx"
)

// A chunk whose counts are unfinished is kept in a file of its own, which is replaced as the
// work proceeds: the line of the work's file, then the chunk, the CRC-32 of what follows, the
// rows done, and the counts.

func (p *File) underwayPath() string { return p.Path + ".now" }

// Keep keeps the counts of the first rows of an unfinished chunk.
func (p *File) Keep(chunk, done int, counts []int32) error {
	line, err := json.Marshal(p.head)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	_ = binary.Write(&b, binary.LittleEndian, int64(done)) // a buffer takes everything
	_ = binary.Write(&b, binary.LittleEndian, counts)
	return fsx.Write(p.underwayPath(), 0o644, func(w io.Writer) error {
		head := binary.LittleEndian.AppendUint32(append(line, '\n'), uint32(chunk))
		if _, err := w.Write(binary.LittleEndian.AppendUint32(head, crc32.ChecksumIEEE(b.Bytes()))); err != nil {
			return err
		}
		_, err := w.Write(b.Bytes())
		return err
	})
}

// Kept is what Keep kept of a chunk; nothing where the file is damaged or of other work,
// which is then done again.
func (p *File) Kept(chunk int) (done int, counts []int32) {
	b, err := fsx.ReadFile(p.underwayPath(), math.MaxInt32)
	if err != nil {
		return 0, nil
	}
	line, rest, _ := bytes.Cut(b, []byte("\n"))
	var head Head
	if json.Unmarshal(line, &head) != nil || head.unlike(&p.head) != "" || len(rest) < 16 || len(rest)%4 != 0 {
		return 0, nil
	}
	if int(binary.LittleEndian.Uint32(rest)) != chunk || binary.LittleEndian.Uint32(rest[4:]) != crc32.ChecksumIEEE(rest[8:]) {
		return 0, nil
	}
	counts = make([]int32, len(rest[16:])/4)
	_, _ = binary.Decode(rest[16:], binary.LittleEndian, counts) // as many as there are
	return int(int64(binary.LittleEndian.Uint64(rest[8:]))), counts
}

// Underway reports whether a chunk is unfinished.
func (p *File) Underway() bool {
	_, err := os.Stat(p.underwayPath())
	return err == nil
}

// dropUnderway removes the file of a chunk whose counts are in the part's file.
func (p *File) dropUnderway() {
	if p != nil {
		os.Remove(p.underwayPath())
	}
}
