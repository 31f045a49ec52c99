package unfinished

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"tercet/internal/data/fault"
	"tercet/internal/fsx"
	"tercet/internal/option"
)

// File is a file of unfinished work, open for more. A nil one holds and keeps nothing.
//
// Behind the head are records: the number of a chunk, the CRC-32 and the length of what
// follows, and that, little-endian numbers. A record that a kill cut off is written again.
type File struct {
	Path string
	head Head
	f    *os.File
	at   []int64 // offset of each chunk's record, 0 where it is not there
	done int
}

// Open opens the file of a task, or begins it. Work of another head and a file that another
// process has open are *option.Error.
func Open(path string, head Head) (*File, error) {
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
	p := &File{Path: path, head: head, f: f, at: make([]int64, head.Chunks)}
	if err := p.begin(); err != nil {
		f.Close()
		return nil, err
	}
	return p, nil
}

func (p *File) begin() error {
	if busy, err := fsx.Lock(p.f); err != nil || busy {
		return option.Errorf("%s is being written by another process", p.Path)
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
	if what := there.unlike(&p.head); what != "" {
		return option.Errorf("%s holds work of another computation (%s); remove it, or write elsewhere", p.Path, what)
	}
	return p.f.Truncate(end)
}

// maxHeader bounds the first line.
const maxHeader = 1 << 16

// scan reads the header, nil where there is none, and finds the whole records; end is
// behind the last of them.
func (p *File) scan() (head *Head, end int64, err error) {
	info, err := p.f.Stat()
	if err != nil {
		return nil, 0, err
	}
	in := bufio.NewReader(io.NewSectionReader(p.f, 0, min(maxHeader, info.Size())))
	line, err := in.ReadBytes('\n')
	if errors.Is(err, io.EOF) && len(line) < maxHeader && (len(line) == 0 || line[0] == '{') {
		return nil, 0, nil
	}
	head = new(Head)
	if err != nil || json.Unmarshal(line, head) != nil || head.Schema == "" {
		return nil, 0, fault.Bad("%s is not a file of unfinished work: it does not begin with a line that says what it is of", p.Path)
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
func (p *File) record(at, size int64) (chunk int, length int64, ok bool) {
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

// Has reports whether the chunk is done.
func (p *File) Has(chunk int) bool { return p != nil && p.at[chunk] != 0 }

// Done is the number of chunks that are done.
func (p *File) Done() int { return p.done }

// Write keeps the numbers of a chunk, a value or slice of a fixed size: they are on the disk
// when it returns.
func (p *File) Write(chunk int, numbers any) error {
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

// Read fills numbers, of the type and size that were written, with those of a chunk.
func (p *File) Read(chunk int, numbers any) error {
	var head [recordHead]byte
	if _, err := p.f.ReadAt(head[:], p.at[chunk]); err != nil {
		return err
	}
	length := int64(binary.LittleEndian.Uint64(head[8:]))
	if int64(binary.Size(numbers)) != length {
		return fault.Bad("%s: part %d has %d bytes, want %d", p.Path, chunk, length, binary.Size(numbers))
	}
	return binary.Read(bufio.NewReaderSize(io.NewSectionReader(p.f, p.at[chunk]+recordHead, length), 1<<20), binary.LittleEndian, numbers)
}

// Close closes the file.
func (p *File) Close() {
	if p != nil {
		p.f.Close()
	}
}

// Remove deletes the file: its work is done.
func (p *File) Remove() error {
	if p == nil {
		return nil
	}
	p.dropUnderway()
	return os.Remove(p.Path)
}

// Finished opens the file of a task that has ended, for its records to be read.
func Finished(path string, head Head) (*File, error) {
	f, _, err := fsx.OpenRegular(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fault.Missing(nil, "%s is missing", path)
	}
	if err != nil {
		return nil, err
	}
	p := &File{Path: path, head: head, f: f, at: make([]int64, head.Chunks)}
	there, _, err := p.scan()
	switch {
	case err != nil:
	case there == nil:
		err = fault.Bad("%s is cut off in its first line: run task %d/%d again", path, head.Task, head.Of)
	case there.unlike(&head) != "":
		err = option.Errorf("%s holds work of another computation (%s)", path, there.unlike(&head))
	case p.done < head.Chunks:
		err = fault.Missing(nil, "%s is unfinished, %d of %d parts: run task %d/%d again, which continues", path, p.done, head.Chunks, head.Task, head.Of)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return p, nil
}
