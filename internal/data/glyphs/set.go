package glyphs

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"slices"
	"sync"

	"golang.org/x/image/font/sfnt"

	"tercet/internal/par"
	"tercet/internal/rng"
)

// Set is one split: images by class, those of class 0 first.
type Set struct {
	size, channels int
	seed           uint64
	knobs          knobs
	chars          []character
	pieces         []*outline
	names          []string
	labels         []int32
	pixels         []byte
	fingerprint    string
	brushes        par.Free[brush]
}

// Open draws the training set and the test set. Their classes are disjoint; test
// is nil if o asks for no test classes. Classes are chosen from the repertoire
// by the seed and numbered by code point from 0 in each set. Equal options may give
// the same sets, which nothing changes.
func Open(o Options) (train, test *Set, err error) {
	o, err = o.withDefaults()
	if err != nil {
		return nil, nil, err
	}
	return last.open(o)
}

// draw draws the sets of complete options.
func draw(o Options) (train, test *Set, err error) {
	order := slices.Clone(repertoire)
	r := rng.New(o.Seed, "glyphs classes")
	for i := range o.TrainClasses + o.TestClasses { // Fisher and Yates
		j := i + pick(r, len(order)-i)
		order[i], order[j] = order[j], order[i]
	}
	if train, err = newSet(o, order[:o.TrainClasses], o.TrainPerClass); err != nil {
		return nil, nil, err
	}
	if o.TestClasses > 0 {
		if test, err = newSet(o, order[o.TrainClasses:][:o.TestClasses], o.TestPerClass); err != nil {
			return nil, nil, err
		}
	}
	return train, test, nil
}

// clutterPieces are the characters of which pieces may show at the border.
const clutterPieces = "ABCDEFGHJKLMNPQRSTUVWXYZabdefghknqrty2345679"

// pieces are their outlines, loaded once. Nobody changes an outline.
var pieces = sync.OnceValues(func() (out []*outline, err error) {
	faces, err := loadFaces()
	if err != nil {
		return nil, err
	}
	var buf sfnt.Buffer
	for _, c := range clutterPieces {
		for _, f := range []int{sansRegular, serifRegular} {
			g, err := faces[f].outline(&buf, c)
			if err != nil {
				return nil, err
			}
			out = append(out, g)
		}
	}
	return out, nil
})

func newSet(o Options, codes []rune, perClass int) (*Set, error) {
	faces, err := loadFaces()
	if err != nil {
		return nil, err
	}
	s := &Set{size: o.Size, channels: o.channels(), seed: o.Seed, knobs: o.Knobs.fix(o.Size)}
	if s.pieces, err = pieces(); err != nil {
		return nil, err
	}
	var buf sfnt.Buffer
	codes = slices.Clone(codes)
	slices.SortFunc(codes, cmp.Compare[rune])
	for i, code := range codes {
		c := character{code: code}
		for f := range faces {
			if faces[f].hides(code) {
				continue
			}
			g, err := faces[f].outline(&buf, code)
			if err != nil {
				return nil, err
			}
			if g != nil {
				c.outlines = append(c.outlines, g)
			}
		}
		s.chars = append(s.chars, c)
		s.names = append(s.names, fmt.Sprintf("U+%04X %c", code, code))
		for range perClass {
			s.labels = append(s.labels, int32(i))
		}
	}
	image := s.imageBytes()
	s.pixels = make([]byte, len(s.labels)*image)
	par.Each(len(s.labels), 64, func(i int) {
		s.Draw(int(s.labels[i]), uint64(i%perClass), s.pixels[i*image:][:image])
	})
	s.fingerprint = s.hash()
	return s, nil
}

func (s *Set) imageBytes() int { return s.size * s.size * s.channels }

// hash is SHA-256 over the shape, the class names, the labels and the pixels.
func (s *Set) hash() string {
	h := sha256.New()
	var b []byte
	for _, v := range []int{s.size, s.size, s.channels, len(s.labels), len(s.names)} {
		b = binary.LittleEndian.AppendUint64(b, uint64(v))
	}
	for _, n := range s.names {
		b = append(b, n...)
		b = append(b, 0)
	}
	for _, l := range s.labels {
		b = binary.LittleEndian.AppendUint32(b, uint32(l))
	}
	h.Write(b)
	h.Write(s.pixels)
	return "sha256:" + hex.EncodeToString(h.Sum(nil))
}

// Len returns the number of images.
func (s *Set) Len() int { return len(s.labels) }

// Shape returns height, width and channels of an image.
func (s *Set) Shape() (h, w, c int) { return s.size, s.size, s.channels }

// Labels returns the class of each image. The caller must not change it.
func (s *Set) Labels() []int32 { return s.labels }

// Classes returns the class names, such as "U+0416 Ж".
func (s *Set) Classes() []string { return s.names }

// Fingerprint identifies the content: two sets with the same one have the same
// images, labels and class names.
func (s *Set) Fingerprint(context.Context) (string, error) { return s.fingerprint, nil }

// Read writes image i to dst (h*w*c values, HWC) with pixels in [0, 1]. It is
// safe for concurrent use.
func (s *Set) Read(i int, dst []float32) error {
	n := s.imageBytes()
	if i < 0 || i >= len(s.labels) {
		return fmt.Errorf("glyphs: image %d of %d", i, len(s.labels))
	}
	if len(dst) != n {
		return fmt.Errorf("glyphs: room for %d values, but an image has %d", len(dst), n)
	}
	for j, b := range s.pixels[i*n:][:n] {
		dst[j] = float32(b) / 255
	}
	return nil
}

// Draw paints image number instance of a class into dst (h*w*c bytes, HWC):
// an endless supply for online learning. The stored images are the numbers
// below the count per class. It is safe for concurrent use; like an index, a
// wrong class or length panics.
func (s *Set) Draw(class int, instance uint64, dst []byte) {
	if len(dst) != s.imageBytes() {
		panic(fmt.Sprintf("glyphs: room for %d bytes, but an image has %d", len(dst), s.imageBytes()))
	}
	b := s.brushes.Get()
	b.draw(&s.chars[class], instance, &s.knobs, s.pieces, s.seed, s.size, s.channels, dst)
	s.brushes.Put(b)
}
