package glyphs

import (
	"fmt"
	"math"
	"strings"
)

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

// anchors are the knobs at the levels 0, 0.25, 0.5 and 1: plain characters that
// vary by face only, and the presets easy, medium and hard.
var anchors = [4]Knobs{
	{ScaleMin: 0.75, ScaleMax: 0.75, Contrast: 1},
	{Rotate: 5, Shear: 0.05, Stretch: 0.05, ScaleMin: 0.70, ScaleMax: 0.80, Shift: 0.03, Elastic: 0.01,
		Weight: 0.005, Blur: 0.015, Contrast: 0.8, Noise: 0.03},
	{Rotate: 15, Shear: 0.15, Stretch: 0.12, ScaleMin: 0.60, ScaleMax: 0.85, Shift: 0.06, Elastic: 0.03,
		Weight: 0.012, Blur: 0.025, Contrast: 0.5, Shade: 0.2, Clutter: 2, Noise: 0.08},
	{Rotate: 30, Shear: 0.25, Stretch: 0.2, ScaleMin: 0.50, ScaleMax: 0.85, Shift: 0.1, Elastic: 0.045,
		Weight: 0.016, Blur: 0.035, Contrast: 0.3, Shade: 0.4, Clutter: 4, Noise: 0.12, Invert: 0.5},
}

// difficulties lists the presets.
func difficulties() []string { return []string{"easy", "medium", "hard"} }

// Preset returns the knobs of a named difficulty.
func Preset(name string) (Knobs, error) {
	for i, n := range difficulties() {
		if n == name {
			return anchors[i+1], nil
		}
	}
	return Knobs{}, fmt.Errorf("glyphs: unknown difficulty %q; valid are %s and custom", name, strings.Join(difficulties(), ", "))
}

// Levels set each kind of variation by one number: 0 is none, 0.25 as in easy,
// 0.5 as in medium, 1 as in hard, linear between.
type Levels struct {
	Affine   float64 // rotation, shear, stretch, scale and shift
	Elastic  float64
	Stroke   float64 // weight
	Blur     float64
	Contrast float64 // contrast, shade and inversion
	Clutter  float64
	Noise    float64
}

// EachAt returns the levels that are all v.
func EachAt(v float64) Levels { return Levels{v, v, v, v, v, v, v} }

// Knobs returns the knobs at the given levels.
func (l Levels) Knobs() (Knobs, error) {
	for _, v := range []struct {
		name string
		v    float64
	}{{"affine", l.Affine}, {"elastic", l.Elastic}, {"stroke", l.Stroke}, {"blur", l.Blur},
		{"contrast", l.Contrast}, {"clutter", l.Clutter}, {"noise", l.Noise}} {
		if !(v.v >= 0 && v.v <= 1) {
			return Knobs{}, fmt.Errorf("glyphs: level %s is %v; it must be 0 to 1", v.name, v.v)
		}
	}
	a, c := anchorsAt(l.Affine), anchorsAt(l.Contrast)
	return Knobs{
		Rotate: a.mix(func(k *Knobs) float64 { return k.Rotate }), Shear: a.mix(func(k *Knobs) float64 { return k.Shear }),
		Stretch:  a.mix(func(k *Knobs) float64 { return k.Stretch }),
		ScaleMin: a.mix(func(k *Knobs) float64 { return k.ScaleMin }), ScaleMax: a.mix(func(k *Knobs) float64 { return k.ScaleMax }),
		Shift:    a.mix(func(k *Knobs) float64 { return k.Shift }),
		Elastic:  anchorsAt(l.Elastic).mix(func(k *Knobs) float64 { return k.Elastic }),
		Weight:   anchorsAt(l.Stroke).mix(func(k *Knobs) float64 { return k.Weight }),
		Blur:     anchorsAt(l.Blur).mix(func(k *Knobs) float64 { return k.Blur }),
		Contrast: c.mix(func(k *Knobs) float64 { return k.Contrast }), Shade: c.mix(func(k *Knobs) float64 { return k.Shade }),
		Invert:  c.mix(func(k *Knobs) float64 { return k.Invert }),
		Clutter: int(math.Round(anchorsAt(l.Clutter).mix(func(k *Knobs) float64 { return float64(k.Clutter) }))),
		Noise:   anchorsAt(l.Noise).mix(func(k *Knobs) float64 { return k.Noise }),
	}, nil
}

// blend is a place between two anchors.
type blend struct {
	low, high *Knobs
	t         float64
}

func anchorsAt(level float64) blend {
	at := [4]float64{0, 0.25, 0.5, 1}
	i := 0
	for i < 2 && level > at[i+1] {
		i++
	}
	return blend{&anchors[i], &anchors[i+1], (level - at[i]) / (at[i+1] - at[i])}
}

// The conversions around the products keep compilers from fusing them with the
// sum, which would round differently from machine to machine.
func (b blend) mix(f func(*Knobs) float64) float64 {
	return float64(f(b.low)*(1-b.t)) + float64(f(b.high)*b.t)
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
	q := func(v float64) int64 { return int64(math.Floor(float64(v*one) + 0.5)) }
	sigma := q(k.Blur) * int64(size)
	return knobs{
		rotate: q(k.Rotate) * 31416 / 1800000, shear: q(k.Shear), stretch: q(k.Stretch),
		scaleMin: q(k.ScaleMin), scaleMax: q(k.ScaleMax), shift: 2 * q(k.Shift), elastic: 2 * q(k.Elastic), weight: 2 * q(k.Weight),
		variance: mul(sigma, sigma), contrast: q(k.Contrast), shade: q(k.Shade), noise: q(k.Noise), invert: q(k.Invert),
		clutter: k.Clutter,
	}
}
