package data

import (
	"context"
	"fmt"

	"tercet/internal/engine/array"
	"tercet/internal/engine/kernel"
)

// Memory is a dataset of 8-bit images held in memory.
type Memory struct {
	labeled
	h, w, c int
	pixels  []uint8  // (N, H, W, C)
	names   []string // file of each item; nil where all come from one
}

// NewMemory makes a dataset of pixels (N, H, W, C) and labels (N), which index
// classes. It keeps the slices.
func NewMemory(pixels []uint8, h, w, c int, labels []int32, classes []string) (*Memory, error) {
	if h < 1 || w < 1 || c < 1 || len(pixels) != len(labels)*h*w*c {
		return nil, fmt.Errorf("%w: %d pixels for %d labels and images of %dx%dx%d", array.ErrShape, len(pixels), len(labels), h, w, c)
	}
	if err := checkLabels(labels, len(classes)); err != nil {
		return nil, err
	}
	return &Memory{labeled: labeled{labels: labels, classes: classes}, h: h, w: w, c: c, pixels: pixels}, nil
}

// Shape returns H, W, C.
func (m *Memory) Shape() (h, w, c int) { return m.h, m.w, m.c }

// Read writes item i's pixels, divided by 255, to dst.
func (m *Memory) Read(i int, dst []float32) error {
	if err := checkRead(m, i, dst); err != nil {
		return err
	}
	n := len(dst)
	kernel.Pixels(m.pixels[i*n:(i+1)*n], dst)
	return nil
}

// ItemName returns the file of item i, "" where all items come from one file.
func (m *Memory) ItemName(i int) string {
	if m.names == nil {
		return ""
	}
	return m.names[i]
}

// Fingerprint returns Digest.
func (m *Memory) Fingerprint(ctx context.Context) (string, error) { return m.print.of(ctx, m) }

// Vectors is a dataset of feature vectors, as those of npy files: images of
// shape (1, 1, D) whose values are not confined to [0,1].
type Vectors struct {
	labeled
	x *array.Array
}

// NewVectors makes a dataset of x (N, D) and labels (N), which index classes. It
// keeps both.
func NewVectors(x *array.Array, labels []int32, classes []string) (*Vectors, error) {
	if err := x.SameShape("vectors", len(labels), -1); err != nil {
		return nil, err
	}
	if x.Shape[1] < 1 {
		return nil, fmt.Errorf("%w: vectors without elements", array.ErrShape)
	}
	if err := checkLabels(labels, len(classes)); err != nil {
		return nil, err
	}
	return &Vectors{labeled: labeled{labels: labels, classes: classes}, x: x}, nil
}

// Shape returns 1, 1, D.
func (v *Vectors) Shape() (h, w, c int) { return 1, 1, v.x.Shape[1] }

// Read writes vector i to dst.
func (v *Vectors) Read(i int, dst []float32) error {
	if err := checkRead(v, i, dst); err != nil {
		return err
	}
	copy(dst, v.x.Row(i))
	return nil
}

// Fingerprint returns Digest.
func (v *Vectors) Fingerprint(ctx context.Context) (string, error) { return v.print.of(ctx, v) }

// labeled is the part that datasets have in common.
type labeled struct {
	labels  []int32
	classes []string
	print   fingerprint
}

// Len returns N.
func (l *labeled) Len() int { return len(l.labels) }

// Labels returns the class index of each item.
func (l *labeled) Labels() []int32 { return l.labels }

// Classes returns the class names.
func (l *labeled) Classes() []string { return l.classes }

func checkLabels(labels []int32, classes int) error {
	for i, y := range labels {
		if y < 0 || int(y) >= classes {
			return bad("item %d has label %d; there are %d classes", i, y, classes)
		}
	}
	return nil
}
