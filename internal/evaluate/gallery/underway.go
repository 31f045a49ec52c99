package gallery

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"hash/crc32"
	"io"
	"math"
	"os"

	"tercet/internal/fsx"
	"tercet/internal/metric"
)

// A chunk of queries whose counts are unfinished is kept in a file of its own, which is
// replaced as the work proceeds: the line of the part's file, then the chunk, the CRC-32 of
// what follows, the gallery rows done, and the counts.

func (p *partFile) underwayPath() string { return p.path + ".now" }

// resumed is the part of the gallery [from, to) for a chunk, with what was counted of it
// before, whose further counts are kept.
func (p *partFile) resumed(chunk, from, to int) metric.Part {
	out := metric.Part{From: from, To: to}
	if p == nil {
		return out
	}
	out.Done, out.Counts = p.underway(chunk)
	out.Save = func(done int, counts []int32) error { return p.keep(chunk, done, counts) }
	return out
}

func (p *partFile) keep(chunk, done int, counts []int32) error {
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

// underway reads what was counted for a chunk; nothing where the file is damaged or of
// other work, which is then done again.
func (p *partFile) underway(chunk int) (done int, counts []int32) {
	b, err := fsx.ReadFile(p.underwayPath(), math.MaxInt32)
	if err != nil {
		return 0, nil
	}
	line, rest, _ := bytes.Cut(b, []byte("\n"))
	var head header
	if json.Unmarshal(line, &head) != nil || head.unlike(p.head) != "" || len(rest) < 16 || len(rest)%4 != 0 {
		return 0, nil
	}
	if int(binary.LittleEndian.Uint32(rest)) != chunk || binary.LittleEndian.Uint32(rest[4:]) != crc32.ChecksumIEEE(rest[8:]) {
		return 0, nil
	}
	counts = make([]int32, len(rest[16:])/4)
	_, _ = binary.Decode(rest[16:], binary.LittleEndian, counts) // as many as there are
	return int(int64(binary.LittleEndian.Uint64(rest[8:]))), counts
}

func (p *partFile) isUnderway() bool {
	_, err := os.Stat(p.underwayPath())
	return err == nil
}

// dropUnderway removes the file of a chunk whose counts are in the part's file.
func (p *partFile) dropUnderway() {
	if p != nil {
		os.Remove(p.underwayPath())
	}
}
