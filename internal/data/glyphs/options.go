package glyphs

import (
	"fmt"
	"math"
	"strings"
)

// Options describes a dataset. The zero value of each field but Seed means its
// default.
type Options struct {
	TrainClasses                int  // default 200
	TestClasses                 int  // unseen characters, disjoint from those of training; default 100; -1: none
	TrainPerClass, TestPerClass int  // images of each class; default 20
	Size                        int  // side of an image in pixels, 8 to 256; default 32
	Color                       bool // three channels with random ink and paper instead of one

	// Difficulty names a preset: easy, medium (the default), hard, or custom,
	// for which Knobs must be set (start from Preset).
	Difficulty string
	Knobs      *Knobs

	Seed uint64 // of the choice of classes and of every image
}

// Knobs say how much the images of a class vary. Lengths are fractions of the
// image's side. Each image draws its own values uniformly between none and the
// given amount, both signs where that makes sense.
type Knobs struct {
	Rotate             float64 // largest angle in degrees, at most 180
	Shear              float64 // largest horizontal shear per height, at most 1
	Stretch            float64 // largest relative change of the aspect ratio, at most 0.5
	ScaleMin, ScaleMax float64 // longer side of the character, in [0.2, 1.2]
	Shift              float64 // largest move in x and in y, at most 0.5
	Elastic            float64 // largest local displacement, at most 0.25
	Weight             float64 // largest change of a stroke's half width, at most 0.05
	Blur               float64 // largest standard deviation, at most 0.1
	Contrast           float64 // smallest difference of ink and paper, in (0, 1]
	Shade              float64 // largest change of brightness from one side to the other, at most 1
	Clutter            int     // largest number of stray strokes and pieces of other characters, at most 16
	Noise              float64 // largest standard deviation of a pixel, at most 0.5
	Invert             float64 // probability of dark ink on light paper
}

// Difficulties lists the presets.
func Difficulties() []string { return []string{"easy", "medium", "hard"} }

// Preset returns the knobs of a named difficulty.
func Preset(name string) (Knobs, error) {
	switch name {
	case "easy":
		return Knobs{Rotate: 5, Shear: 0.05, Stretch: 0.05, ScaleMin: 0.70, ScaleMax: 0.80, Shift: 0.03, Elastic: 0.01,
			Weight: 0.005, Blur: 0.015, Contrast: 0.8, Shade: 0, Clutter: 0, Noise: 0.03}, nil
	case "medium":
		return Knobs{Rotate: 15, Shear: 0.15, Stretch: 0.12, ScaleMin: 0.60, ScaleMax: 0.85, Shift: 0.06, Elastic: 0.03,
			Weight: 0.012, Blur: 0.025, Contrast: 0.5, Shade: 0.2, Clutter: 2, Noise: 0.08}, nil
	case "hard":
		return Knobs{Rotate: 30, Shear: 0.25, Stretch: 0.2, ScaleMin: 0.50, ScaleMax: 0.85, Shift: 0.1, Elastic: 0.045,
			Weight: 0.016, Blur: 0.035, Contrast: 0.3, Shade: 0.4, Clutter: 4, Noise: 0.12, Invert: 0.5}, nil
	}
	return Knobs{}, fmt.Errorf("glyphs: unknown difficulty %q; valid are %s and custom", name, strings.Join(Difficulties(), ", "))
}

// maxBytes bounds the images of a split, so that a slip of the pen in a config
// is an error and not an exhausted machine.
const maxBytes = 1 << 30

// withDefaults returns o complete and checked.
func (o Options) withDefaults() (Options, error) {
	set := func(v *int, d int) {
		if *v == 0 {
			*v = d
		}
	}
	set(&o.TrainClasses, 200)
	set(&o.TestClasses, 100)
	set(&o.TrainPerClass, 20)
	set(&o.TestPerClass, 20)
	set(&o.Size, 32)
	if o.TestClasses == -1 {
		o.TestClasses = 0
	}
	if o.Difficulty == "" {
		o.Difficulty = "medium"
		if o.Knobs != nil {
			o.Difficulty = "custom"
		}
	}
	switch {
	case o.Size < 8 || o.Size > 256:
		return o, fmt.Errorf("glyphs: image size %d; it must be 8 to 256 pixels", o.Size)
	case o.TrainClasses < 1:
		return o, fmt.Errorf("glyphs: %d training classes; at least 1 is needed", o.TrainClasses)
	case o.TestClasses < 0:
		return o, fmt.Errorf("glyphs: %d test classes; give 1 or more, or -1 for no test set", o.TestClasses)
	case o.TrainClasses > len(repertoire) || o.TestClasses > len(repertoire)-o.TrainClasses:
		return o, fmt.Errorf("glyphs: %d training and %d test classes; there are %d characters in all, and the two sets share none",
			o.TrainClasses, o.TestClasses, len(repertoire))
	case o.TrainPerClass < 1 || o.TestPerClass < 1:
		return o, fmt.Errorf("glyphs: %d images per training class and %d per test class; at least 1 is needed", o.TrainPerClass, o.TestPerClass)
	}
	for _, s := range []struct{ classes, per int }{{o.TrainClasses, o.TrainPerClass}, {o.TestClasses, o.TestPerClass}} {
		if image := o.Size * o.Size * o.channels(); s.per > maxBytes/(image*max(s.classes, 1)) {
			return o, fmt.Errorf("glyphs: %d classes of %d images of %d bytes exceed %d GiB; lower the number per class or the size",
				s.classes, s.per, image, maxBytes>>30)
		}
	}
	if o.Difficulty == "custom" {
		if o.Knobs == nil {
			return o, fmt.Errorf("glyphs: difficulty custom needs the knobs; start from those of %s", strings.Join(Difficulties(), ", "))
		}
		k := *o.Knobs
		o.Knobs = &k
		return o, k.check()
	}
	k, err := Preset(o.Difficulty)
	if err != nil {
		return o, err
	}
	if o.Knobs != nil {
		return o, fmt.Errorf("glyphs: knobs are given beside difficulty %s; set difficulty custom to use them", o.Difficulty)
	}
	o.Knobs = &k
	return o, nil
}

func (o Options) channels() int {
	if o.Color {
		return 3
	}
	return 1
}

func (k Knobs) check() error {
	for _, v := range []struct {
		name      string
		v, lo, hi float64
	}{
		{"rotate", k.Rotate, 0, 180}, {"shear", k.Shear, 0, 1}, {"stretch", k.Stretch, 0, 0.5},
		{"scale_min", k.ScaleMin, 0.2, 1.2}, {"scale_max", k.ScaleMax, 0.2, 1.2}, {"shift", k.Shift, 0, 0.5},
		{"elastic", k.Elastic, 0, 0.25}, {"weight", k.Weight, 0, 0.05}, {"blur", k.Blur, 0, 0.1},
		{"contrast", k.Contrast, 0.05, 1}, {"shade", k.Shade, 0, 1}, {"clutter", float64(k.Clutter), 0, 16},
		{"noise", k.Noise, 0, 0.5}, {"invert", k.Invert, 0, 1},
	} {
		if math.IsNaN(v.v) || v.v < v.lo || v.v > v.hi {
			return fmt.Errorf("glyphs: knob %s is %v; it must be %v to %v", v.name, v.v, v.lo, v.hi)
		}
	}
	if k.ScaleMin > k.ScaleMax {
		return fmt.Errorf("glyphs: knob scale_min %v is above scale_max %v", k.ScaleMin, k.ScaleMax)
	}
	return nil
}

// knobs are Knobs in fixed point; lengths are in the frame's unit, half a side.
type knobs struct {
	rotate, shear, stretch, scaleMin, scaleMax, shift, elastic, weight int64

	variance                       int64 // largest variance of the blur in square pixels
	contrast, shade, noise, invert int64
	clutter                        int
}

// fix converts k for images of size pixels. A product with a power of two is
// exact, so that rounding it is the same with and without fused operations.
func (k Knobs) fix(size int) knobs {
	q := func(v float64) int64 { return int64(math.Floor(v*one + 0.5)) }
	sigma := q(k.Blur) * int64(size)
	return knobs{
		rotate: q(k.Rotate) * 31416 / 1800000, shear: q(k.Shear), stretch: q(k.Stretch),
		scaleMin: q(k.ScaleMin), scaleMax: q(k.ScaleMax), shift: 2 * q(k.Shift), elastic: 2 * q(k.Elastic), weight: 2 * q(k.Weight),
		variance: mul(sigma, sigma), contrast: q(k.Contrast), shade: q(k.Shade), noise: q(k.Noise), invert: q(k.Invert),
		clutter: k.Clutter,
	}
}
