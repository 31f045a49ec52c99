package data

import (
	"context"
	"fmt"

	"tercet/internal/par"
	"tercet/internal/rng"
)

// DistortOptions say how images are distorted: each pixel is looked up where a random
// affine map and a smooth random displacement put it (Simard, Steinkraus & Platt, ICDAR
// 2003), bilinearly; outside the image its border continues.
type DistortOptions struct {
	Strength float64 // 0 to 1, scales all amplitudes; at 0.5 MNIST's digits stay legible
	Seed     uint64
	Fresh    bool // a loader draws another distortion each time
}

// Distorted returns ds with distorted images; strength 0 returns ds. Read always
// gives item i the distortion of (Seed, i), and so does the fingerprint see it.
// With Fresh a loader gives row p of a batch the distortion of (Seed, the
// loader's seed, epoch, step, p) instead, of subsets, joined and relabeled sets
// too; its own transform comes after. Values outside [0,1] are not made.
func Distorted(ds Dataset, o DistortOptions) (Dataset, error) {
	h, w, c := ds.Shape()
	if !(o.Strength >= 0 && o.Strength <= 1) {
		return nil, fmt.Errorf("distortion of strength %v; want 0 to 1", o.Strength)
	}
	if h < 2 || w < 2 {
		return nil, unfit("distortion: images of %dx%d are too small; want 2x2 or more", h, w)
	}
	if o.Strength == 0 {
		return ds, nil
	}
	return &distorted{Dataset: ds, o: o, h: h, w: w, c: c}, nil
}

// distorted is what Distorted makes.
type distorted struct {
	Dataset
	o       DistortOptions
	h, w, c int
	spare   par.Free[distortScratch]
	print   fingerprint
}

// distortScratch is what one reading needs.
type distortScratch struct {
	img    []float32
	stream rng.Stream
	by     warp
}

func (d *distorted) Read(i int, dst []float32) error {
	s := d.spare.Get()
	defer d.spare.Put(s)
	s.stream.Reset(d.o.Seed, "data/distort", uint64(i))
	return d.read(s, i, dst)
}

func (d *distorted) redraws() bool { return d.o.Fresh }

func (d *distorted) readAnew(i int, dst []float32, k Draw) error {
	s := d.spare.Get()
	defer d.spare.Put(s)
	s.stream.Reset(d.o.Seed, "data/distort fresh", k.Seed, uint64(k.Epoch), uint64(k.Step), uint64(k.Row))
	return d.read(s, i, dst)
}

// read distorts item i by the numbers of s.stream.
func (d *distorted) read(s *distortScratch, i int, dst []float32) error {
	if err := checkRead(d, i, dst); err != nil {
		return err
	}
	if s.img == nil {
		s.img = make([]float32, len(dst))
	}
	if err := d.Dataset.Read(i, s.img); err != nil {
		return err
	}
	s.by.draw(d.o.Strength, d.h, d.w, &s.stream)
	s.by.apply(dst, s.img, d.h, d.w, d.c)
	return nil
}

func (d *distorted) ItemName(i int) string {
	if n, ok := d.Dataset.(Namer); ok {
		return n.ItemName(i)
	}
	return ""
}

func (d *distorted) Fingerprint(ctx context.Context) (string, error) { return d.print.of(ctx, d) }
