// Package shard is a file of resized images: they are decoded once, and read at any place
// with as many bytes as they have.
//
// The file is a magic line, the RGB rows of the images from byte 4096 on, each image at a
// multiple of 64, the index (for each image its key, place, height, width and the CRC-32C
// of its bytes), a header in JSON, and 16 bytes at the end: the length and the CRC-32C of the header, 4 bytes each, and
// a magic word. The first version of the format has no checksums, and zeros in place of
// the last one.
package shard

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"hash/crc32"
	"io"
	"os"
	"strings"

	"tercet/internal/fsx"
	"tercet/internal/imaging"
	"tercet/internal/record"
)

// Key is what an image is found by: a hash of where it came from.
type Key [sha256.Size]byte

// Params say how the images were made.
type Params struct {
	Decoder       string `json:"decoder"`
	Resize        string `json:"resize"`
	Fit           string `json:"fit"`           // short or squash
	Size          int    `json:"size"`          // side in pixels
	Interpolation string `json:"interpolation"` // bilinear or bicubic
}

// Header is what a shard says about itself.
type Header struct {
	Schema string `json:"schema"`
	Params
	Images   int    `json:"images"`
	IndexSum uint32 `json:"index_crc32c,omitempty"`
	Index    int64  `json:"index_offset"`
	SHA256   string `json:"sha256"` // of rows and index
}

// ErrFormat is wrapped by the errors of files that are no sound shard.
var ErrFormat = errors.New("no sound packed file")

const (
	begin     = 4096 // of the first image
	align     = 64
	unchecked = sha256.Size + 16 // bytes of an entry of the index without a checksum
	entry     = unchecked + 4
	tail      = 16
	mostJSON  = 1 << 16
	magicTail = "tshard1\n"
)

// crc is the polynomial of checksums, which processors have an instruction for: an image
// is compared with its own each time that it is read.
var crc = crc32.MakeTable(crc32.Castagnoli)

// Writer writes a shard. The file appears under its name with Close.
type Writer struct {
	f     *fsx.File
	buf   *bufio.Writer
	sum   hash.Hash
	at    int64
	index bytes.Buffer
	head  Header
}

// Create begins a shard at path.
func Create(path string, p Params) (*Writer, error) {
	f, err := fsx.Create(path, 0o644)
	if err != nil {
		return nil, err
	}
	w := &Writer{f: f, sum: sha256.New(), head: Header{Schema: record.ShardFormat, Params: p}}
	w.buf = bufio.NewWriterSize(io.MultiWriter(f, w.sum), 1<<20)
	if _, err := w.buf.WriteString(record.ShardFormat + "\n"); err != nil {
		w.Abort()
		return nil, err
	}
	w.at = int64(len(record.ShardFormat) + 1)
	return w, w.pad(begin)
}

// pad writes zeros up to a multiple of n.
func (w *Writer) pad(n int64) error {
	gap := (n - w.at%n) % n
	w.at += gap
	_, err := w.buf.Write(make([]byte, gap))
	return err
}

// Add appends an image.
func (w *Writer) Add(k Key, img imaging.Image) error {
	if err := w.pad(align); err != nil {
		return err
	}
	var place [entry - sha256.Size]byte
	binary.LittleEndian.PutUint64(place[:], uint64(w.at))
	binary.LittleEndian.PutUint32(place[8:], uint32(img.H))
	binary.LittleEndian.PutUint32(place[12:], uint32(img.W))
	sum := uint32(0)
	for y := range img.H {
		sum = crc32.Update(sum, crc, img.Row(y))
		if _, err := w.buf.Write(img.Row(y)); err != nil {
			return err
		}
	}
	binary.LittleEndian.PutUint32(place[16:], sum)
	w.index.Write(k[:])
	w.index.Write(place[:])
	w.head.Images++
	w.at += int64(3 * img.H * img.W)
	return nil
}

// Close ends the file and puts it in its place.
func (w *Writer) Close() (Header, error) {
	if err := w.end(); err != nil {
		w.Abort()
		return Header{}, err
	}
	return w.head, w.f.Commit()
}

func (w *Writer) end() error {
	if err := w.pad(align); err != nil {
		return err
	}
	w.head.Index, w.head.IndexSum = w.at, crc32.Checksum(w.index.Bytes(), crc)
	if _, err := w.buf.Write(w.index.Bytes()); err != nil {
		return err
	}
	if err := w.buf.Flush(); err != nil {
		return err
	}
	w.head.SHA256 = hex.EncodeToString(w.sum.Sum(nil))
	text, err := json.Marshal(w.head)
	if err != nil {
		return err
	}
	n, sum := uint32(len(text)), crc32.Checksum(text, crc)
	text = binary.LittleEndian.AppendUint32(text, n)
	text = binary.LittleEndian.AppendUint32(text, sum)
	_, err = w.f.Write(append(text, magicTail...))
	return err
}

// Abort leaves no file.
func (w *Writer) Abort() { w.f.Abort() }

// Shard is an open file. It serves many goroutines.
type Shard struct {
	Header
	path string
	f    *os.File
	at   map[Key]place
}

type place struct {
	offset int64
	h, w   int
	sum    uint32
}

// entry is the size of an entry of the index.
func (s *Shard) entry() int64 {
	if s.Schema == record.UncheckedShardFormat {
		return unchecked
	}
	return entry
}

// Open reads the header and the index of the file at path. Rows are not read. The error
// wraps ErrFormat where the file is no shard, is cut off or its index is damaged.
func Open(path string) (*Shard, error) {
	f, size, err := fsx.OpenRegular(path)
	if err != nil {
		return nil, err
	}
	s := &Shard{path: path, f: f}
	if err := s.open(size); err != nil {
		f.Close()
		return nil, fmt.Errorf("%s: %w: %w", path, ErrFormat, err)
	}
	return s, nil
}

func (s *Shard) open(size int64) error {
	if size < begin+tail {
		return fmt.Errorf("it has only %d bytes", size)
	}
	first, last := make([]byte, len(record.ShardFormat)+1), make([]byte, tail)
	if _, err := s.f.ReadAt(first, 0); err != nil {
		return err
	}
	format := strings.TrimSuffix(string(first), "\n")
	if format != record.ShardFormat && format != record.UncheckedShardFormat || format == string(first) {
		return errors.New("it does not begin as one")
	}
	if _, err := s.f.ReadAt(last, size-tail); err != nil {
		return err
	}
	n := binary.LittleEndian.Uint32(last)
	if string(last[8:]) != magicTail || n > mostJSON || int64(n) > size-begin-tail {
		return errors.New("its end is missing: it was cut off")
	}
	text := make([]byte, n)
	if _, err := s.f.ReadAt(text, size-tail-int64(n)); err != nil {
		return err
	}
	sum := crc32.Checksum(text, crc)
	if format == record.UncheckedShardFormat {
		sum = 0
	}
	if sum != binary.LittleEndian.Uint32(last[4:]) {
		return errors.New("its header is damaged")
	}
	if err := json.Unmarshal(text, &s.Header); err != nil {
		return fmt.Errorf("damaged header: %w", err)
	}
	end := size - tail - int64(n)
	if s.Schema != format || s.Images < 0 || s.Index < begin || s.Index > end || int64(s.Images) != (end-s.Index)/s.entry() || (end-s.Index)%s.entry() != 0 {
		return errors.New("its header does not fit its size")
	}
	return s.readIndex()
}

func (s *Shard) readIndex() error {
	s.at = make(map[Key]place, s.Images)
	in := bufio.NewReaderSize(io.NewSectionReader(s.f, s.Index, int64(s.Images)*s.entry()), 1<<16)
	var room [entry]byte
	row, sum := room[:s.entry()], uint32(0)
	for i := range s.Images {
		if _, err := io.ReadFull(in, row); err != nil {
			return err
		}
		sum = crc32.Update(sum, crc, row)
		offset := binary.LittleEndian.Uint64(row[sha256.Size:])
		h, w := binary.LittleEndian.Uint32(row[sha256.Size+8:]), binary.LittleEndian.Uint32(row[sha256.Size+12:])
		if h < 1 || w < 1 || h > imaging.MaxSide || w > imaging.MaxSide || offset < begin || offset > uint64(s.Index) || uint64(s.Index)-offset < 3*uint64(h)*uint64(w) {
			return fmt.Errorf("image %d lies at %d with %dx%d pixels, outside of the rows", i+1, offset, h, w)
		}
		p := place{offset: int64(offset), h: int(h), w: int(w)}
		if len(row) == entry {
			p.sum = binary.LittleEndian.Uint32(row[unchecked:])
		}
		s.at[Key(row[:sha256.Size])] = p
	}
	if len(row) == entry && sum != s.IndexSum {
		return errors.New("its index is damaged")
	}
	return nil
}

// Has says whether there is an image of that key.
func (s *Shard) Has(k Key) bool {
	_, ok := s.at[k]
	return ok
}

// Read makes dst the image of that key, which must be there. The error wraps ErrFormat
// where its bytes are not those that were written; the first version of the format cannot
// know.
func (s *Shard) Read(k Key, dst *imaging.Image) error {
	p, ok := s.at[k]
	if !ok {
		return fmt.Errorf("%s: no such image", s.path)
	}
	dst.Fit(p.h, p.w)
	if _, err := s.f.ReadAt(dst.Pix, p.offset); err != nil {
		return fmt.Errorf("%s: %w: %w", s.path, ErrFormat, err)
	}
	if s.entry() == entry && crc32.Checksum(dst.Pix, crc) != p.sum {
		return fmt.Errorf("%s: %w: bytes %d to %d, an image, have changed since it was written; pack the images again", s.path, ErrFormat, p.offset, p.offset+int64(len(dst.Pix))-1)
	}
	return nil
}

// Close closes the file.
func (s *Shard) Close() error { return s.f.Close() }

// String describes how the images were made: "short 256".
func (p Params) String() string {
	text := fmt.Sprintf("%s %d", p.Fit, p.Size)
	if p.Interpolation != "bilinear" {
		text += " " + p.Interpolation
	}
	return text
}
