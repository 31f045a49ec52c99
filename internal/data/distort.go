package data

import (
	"fmt"

	"tercet/internal/par"
	"tercet/internal/rng"
)

// Distort is a transform that looks each pixel up where a random affine map and
// a smooth random displacement put it (Simard, Steinkraus & Platt, ICDAR 2003),
// bilinearly; outside the image its border continues. Strength, 0 to 1, scales all
// amplitudes; at 0.5 MNIST's digits stay legible.
type Distort struct{ Strength float64 }

// Out returns the image's shape, or an error where there is nothing to distort
// or the strength is not one.
func (t Distort) Out(h, w int) (int, int, error) {
	if !(t.Strength >= 0 && t.Strength <= 1) {
		return 0, 0, fmt.Errorf("distortion of strength %v; want 0 to 1", t.Strength)
	}
	if h < 2 || w < 2 {
		return 0, 0, unfit("distortion: images of %dx%d are too small; want 2x2 or more", h, w)
	}
	return h, w, nil
}

// Apply distorts.
func (t Distort) Apply(img, scratch []float32, h, w, c int, r *rng.Stream) {
	var by warp
	by.draw(t.Strength, h, w, r)
	copy(scratch, img)
	by.apply(img, scratch, h, w, c)
}

// DistortOptions say how images are distorted.
type DistortOptions struct {
	Strength float64 // 0 to 1, see Distort
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
	by := Distort{o.Strength}
	if _, _, err := by.Out(h, w); err != nil {
		return nil, err
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

func (d *distorted) readAnew(i int, dst []float32, k drawKey) error {
	s := d.spare.Get()
	defer d.spare.Put(s)
	s.stream.Reset(d.o.Seed, "data/distort fresh", k.seed, uint64(k.epoch), uint64(k.step), uint64(k.row))
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

func (d *distorted) Fingerprint() string { return d.print.of(d) }

// drawKey is what a fresh drawing depends on, beside the dataset's own seed.
type drawKey struct {
	seed             uint64 // the loader's
	epoch, step, row int
}

// redrawn is a dataset whose images a loader may draw again each time.
type redrawn interface {
	redraws() bool
	// readAnew is Read, but what is random in item i depends on k.
	readAnew(i int, dst []float32, k drawKey) error
}

// redraws says whether ds draws any image again.
func redraws(ds Dataset) bool {
	d, ok := ds.(redrawn)
	return ok && d.redraws()
}

// readAnew reads item i of ds, drawn again where ds does that.
func readAnew(ds Dataset, i int, dst []float32, k drawKey) error {
	if redraws(ds) {
		return ds.(redrawn).readAnew(i, dst, k)
	}
	return ds.Read(i, dst)
}

func (v *view) redraws() bool { return redraws(v.base) }

func (v *view) readAnew(i int, dst []float32, k drawKey) error {
	return readAnew(v.base, v.item(i), dst, k)
}

func (j *joined) redraws() bool { return redraws(j.a) || redraws(j.b) }

func (j *joined) readAnew(i int, dst []float32, k drawKey) error {
	ds, i := j.part(i)
	return readAnew(ds, i, dst, k)
}
