package gallery

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"

	"tercet/internal/data/fault"
	"tercet/internal/engine/kernel"
	"tercet/internal/fsx"
	"tercet/internal/option"
	"tercet/internal/record"
)

// header begins a file of unfinished work, a line of JSON that says what the file is of:
// counts of files with the same one, but for Task, add up. Records follow: the number of a
// chunk, the CRC-32 and the length of what follows, and that, little-endian numbers, float64
// values or int32 counts. A record that a kill cut off is written again.
type header struct {
	Schema      string `json:"schema"`
	Program     string `json:"program"`
	Holds       string `json:"holds"` // values or counts
	Fingerprint string `json:"fingerprint"`
	Ks          []int  `json:"ks"`
	Distance    string `json:"distance"`
	Kernel      string `json:"kernel"`
	Chunks      int    `json:"chunks"`
	Task        int    `json:"task"` // from 1
	Of          int    `json:"of"`
}

func (in *input) header(holds string, task, of int) header {
	e := in.o.Eval
	return header{record.EvalPartFormat, in.o.Program, holds, in.src.Fingerprint, e.Ks, e.Distance, kernel.Current().String(), in.stored.Chunks(), task, of}
}

// unlike says in what two headers differ, "" where in nothing.
func (h header) unlike(o header) string {
	for _, part := range []struct {
		what string
		a, b any
	}{
		{"format", h.Schema + " " + h.Holds, o.Schema + " " + o.Holds},
		{"version of the program", h.Program, o.Program},
		{"data (SHA-256)", h.Fingerprint, o.Fingerprint},
		{"k of recall@k", fmt.Sprint(h.Ks), fmt.Sprint(o.Ks)},
		{"distance", h.Distance, o.Distance},
		{"kernel level", h.Kernel, o.Kernel},
		{"parts of the queries", h.Chunks, o.Chunks},
		{"task", h.Task, o.Task},
		{"tasks", h.Of, o.Of},
	} {
		if part.a != part.b {
			return fmt.Sprintf("%s: %v there, %v here", part.what, part.a, part.b)
		}
	}
	return ""
}

// partFile is a file of unfinished work, open for more. A nil one holds and keeps nothing.
type partFile struct {
	path string
	head header
	f    *os.File
	at   []int64 // offset of each chunk's record, 0 where it is not there
	done int
}

// openPart opens the file of a task, or begins it.
func openPart(path string, head header) (*partFile, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, err
	}
	made, err := fsx.OpenAppend(path)
	if err != nil {
		return nil, err
	}
	made.Close()
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	p := &partFile{path: path, head: head, f: f, at: make([]int64, head.Chunks)}
	if err := p.begin(); err != nil {
		f.Close()
		return nil, err
	}
	return p, nil
}

func (p *partFile) begin() error {
	if busy, err := fsx.Lock(p.f); err != nil || busy {
		return option.Errorf("%s is being written by another process", p.path)
	}
	there, end, err := p.scan()
	switch {
	case err != nil:
		return err
	case there == nil: // new, or killed before the first line was whole
		line, err := json.Marshal(p.head)
		if err != nil {
			return err
		}
		if err := p.f.Truncate(0); err != nil {
			return err
		}
		_, err = p.f.WriteAt(append(line, '\n'), 0)
		return err
	}
	if what := there.unlike(p.head); what != "" {
		return option.Errorf("%s holds work of another evaluation (%s); remove it, or write elsewhere", p.path, what)
	}
	return p.f.Truncate(end)
}

// maxHeader bounds the first line.
const maxHeader = 1 << 16

// scan reads the header, nil where there is none, and finds the whole records; end is
// behind the last of them.
func (p *partFile) scan() (head *header, end int64, err error) {
	info, err := p.f.Stat()
	if err != nil {
		return nil, 0, err
	}
	in := bufio.NewReader(io.NewSectionReader(p.f, 0, min(maxHeader, info.Size())))
	line, err := in.ReadBytes('\n')
	if errors.Is(err, io.EOF) && len(line) < maxHeader && (len(line) == 0 || line[0] == '{') {
		return nil, 0, nil
	}
	head = new(header)
	if err != nil || json.Unmarshal(line, head) != nil || head.Schema != record.EvalPartFormat {
		return nil, 0, fault.Bad("%s is no file of unfinished work of eval: it does not begin with %s", p.path, record.EvalPartFormat)
	}
	if head.Chunks != p.head.Chunks {
		return head, 0, nil // which unlike refuses
	}
	end = int64(len(line))
	for {
		chunk, length, ok := p.record(end, info.Size())
		if !ok {
			return head, end, nil
		}
		p.at[chunk] = end
		p.done++
		end += recordHead + length
	}
}

const recordHead = 16

// record checks the record at an offset of a file of size bytes: whether it is whole.
func (p *partFile) record(at, size int64) (chunk int, length int64, ok bool) {
	var head [recordHead]byte
	if at+recordHead > size {
		return 0, 0, false
	}
	if _, err := p.f.ReadAt(head[:], at); err != nil {
		return 0, 0, false
	}
	chunk, length = int(binary.LittleEndian.Uint32(head[:])), int64(binary.LittleEndian.Uint64(head[8:]))
	if chunk >= len(p.at) || p.at[chunk] != 0 || length < 0 || length > size-at-recordHead {
		return 0, 0, false
	}
	sum := crc32.NewIEEE()
	if _, err := io.Copy(sum, io.NewSectionReader(p.f, at+recordHead, length)); err != nil {
		return 0, 0, false
	}
	return chunk, length, sum.Sum32() == binary.LittleEndian.Uint32(head[4:])
}

func (p *partFile) has(chunk int) bool { return p != nil && p.at[chunk] != 0 }

// write keeps the numbers of a chunk, []float64 or []int32: they are on the disk when it
// returns.
func (p *partFile) write(chunk int, numbers any) error {
	if p == nil {
		return nil
	}
	var b bytes.Buffer
	b.Write(make([]byte, recordHead))
	if err := binary.Write(&b, binary.LittleEndian, numbers); err != nil {
		return err
	}
	out := b.Bytes()
	binary.LittleEndian.PutUint32(out, uint32(chunk))
	binary.LittleEndian.PutUint32(out[4:], crc32.ChecksumIEEE(out[recordHead:]))
	binary.LittleEndian.PutUint64(out[8:], uint64(len(out)-recordHead))
	at, err := p.f.Seek(0, io.SeekEnd)
	if err != nil {
		return err
	}
	if _, err := p.f.Write(out); err != nil {
		return err
	}
	p.at[chunk] = at
	p.done++
	if err := p.f.Sync(); err != nil {
		return err
	}
	p.dropUnderway()
	return nil
}

// read fills numbers, []float64 or []int32, with those of a chunk.
func (p *partFile) read(chunk int, numbers any) error {
	var head [recordHead]byte
	if _, err := p.f.ReadAt(head[:], p.at[chunk]); err != nil {
		return err
	}
	length := int64(binary.LittleEndian.Uint64(head[8:]))
	if int64(binary.Size(numbers)) != length {
		return fault.Bad("%s: part %d of the queries has %d bytes, want %d", p.path, chunk, length, binary.Size(numbers))
	}
	return binary.Read(bufio.NewReaderSize(io.NewSectionReader(p.f, p.at[chunk]+recordHead, length), 1<<20), binary.LittleEndian, numbers)
}

func (p *partFile) close() {
	if p != nil {
		p.f.Close()
	}
}

// remove deletes the file: its work is done.
func (p *partFile) remove() error {
	if p == nil {
		return nil
	}
	p.dropUnderway()
	return os.Remove(p.path)
}
