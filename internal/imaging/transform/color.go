package transform

import (
	"math"

	"tercet/internal/component"
	"tercet/internal/imaging"
	"tercet/internal/rng"
)

func init() {
	register("ColorJitter", "brightness, contrast, saturation and hue by random factors, in random order", ColorJitter{Brightness: Factor{0}, Contrast: Factor{0}, Saturation: Factor{0}, Hue: Factor{0}})
	register("RandomErasing", "puts one color into a random box", RandomErasing{P: 0.5, Scale: [2]float64{0.02, 0.33}, Ratio: [2]float64{0.3, 3.3}, Value: Factor{0}})
}

// Factor is one number, or the ends of an interval.
type Factor []float64

// around is the interval of torchvision's _check_input: x stands for middle - x to
// middle + x, not below least.
func (f Factor) around(middle, least float64) [2]float64 {
	if len(f) == 2 {
		return [2]float64{f[0], f[1]}
	}
	return [2]float64{max(middle-f[0], least), middle + f[0]}
}

// ColorJitter is torchvision's on Pillow's images.
type ColorJitter struct {
	Brightness Factor `yaml:"brightness" check:">=0,<=100" doc:"b for factors of 1-b to 1+b, or (smallest, largest)"`
	Contrast   Factor `yaml:"contrast" check:">=0,<=100" doc:"the same, against the mean gray"`
	Saturation Factor `yaml:"saturation" check:">=0,<=100" doc:"the same, against each pixel's gray"`
	Hue        Factor `yaml:"hue" check:">=-0.5,<=0.5" doc:"h for turns of -h to h of the circle, or (smallest, largest)"`
}

// Check implements component.Checker.
func (s ColorJitter) Check() (out []component.Fault) {
	keys := []string{"brightness", "contrast", "saturation", "hue"}
	for i, f := range []Factor{s.Brightness, s.Contrast, s.Saturation, s.Hue} {
		switch {
		case len(f) > 2:
			out = append(out, component.Faultf(keys[i], "must be one number or (smallest, largest), has %d", len(f)))
		case len(f) == 2:
			out = append(out, rising(keys[i], [2]float64{f[0], f[1]})...)
		case f[0] < 0:
			out = append(out, component.Faultf(keys[i], "must be at least 0, is %s", component.Number(f[0])))
		}
	}
	return out
}

func (s ColorJitter) random() bool { return true }

func (s ColorJitter) out(in shape) (shape, error) { return in, nil }

func (s ColorJitter) apply(c *Canvas) {
	img := c.owned()
	change := [4]func(float64){img.Brightness, img.Contrast, img.Saturation, img.Hue}
	of := [4][2]float64{s.Brightness.around(1, 0), s.Contrast.around(1, 0), s.Saturation.around(1, 0), s.Hue.around(0, -0.5)}
	order := [4]int{0, 1, 2, 3}
	for i := 3; i > 0; i-- {
		j := c.r.IntN(i + 1)
		order[i], order[j] = order[j], order[i]
	}
	var factor [4]float64
	for k := range factor {
		factor[k] = between(of[k], c.r)
	}
	for _, k := range order {
		if neutral := float64(1 - k/3); of[k] != [2]float64{neutral, neutral} {
			change[k](factor[k])
		}
	}
}

// RandomErasing is torchvision's with a value in parts of full brightness, since pixels
// are erased before the mean is subtracted: the mean stands for torchvision's 0.
type RandomErasing struct {
	P     float64    `yaml:"p" check:">=0,<=1" doc:"probability"`
	Scale [2]float64 `yaml:"scale" check:">0,<=1" doc:"smallest and largest share of the area"`
	Ratio [2]float64 `yaml:"ratio" check:">=0.01,<=100" doc:"smallest and largest height over width"`
	Value Factor     `yaml:"value" check:">=0,<=1" doc:"the color, 0 to 1: one number or (red, green, blue)"`
}

// Check implements component.Checker.
func (s RandomErasing) Check() []component.Fault {
	out := rising("scale", s.Scale, "ratio", s.Ratio)
	if n := len(s.Value); n != 1 && n != 3 {
		out = append(out, component.Faultf("value", "must be one number or (red, green, blue), has %d", n))
	}
	return out
}

func (s RandomErasing) random() bool { return true }

func (s RandomErasing) out(in shape) (shape, error) { return in, nil }

// box draws what is erased of an image of (h, w), or false where no box fits.
func (s RandomErasing) box(h, w int, r *rng.Stream) (top, left, bh, bw int, ok bool) {
	for range tries {
		area := float64(h*w) * between(s.Scale, r)
		ratio := math.Exp(between([2]float64{math.Log(s.Ratio[0]), math.Log(s.Ratio[1])}, r))
		bh = int(math.RoundToEven(math.Sqrt(area * ratio)))
		bw = int(math.RoundToEven(math.Sqrt(area / ratio)))
		if bh < h && bw < w {
			top = r.IntN(h - bh + 1)
			return top, r.IntN(w - bw + 1), bh, bw, true
		}
	}
	return 0, 0, 0, 0, false
}

func (s RandomErasing) apply(c *Canvas) {
	if c.r.Float64() >= s.P {
		return
	}
	top, left, h, w, ok := s.box(c.img.H, c.img.W, c.r)
	if !ok || h < 1 || w < 1 {
		return
	}
	part := c.owned().Crop(top, left, h, w)
	var color [3]uint8
	for k := range color {
		color[k] = uint8(math.Round(s.Value[k%len(s.Value)] * 255))
	}
	fill(part, color)
}

func fill(img imaging.Image, color [3]uint8) {
	for y := range img.H {
		row := img.Row(y)
		for x := range img.W {
			copy(row[3*x:], color[:])
		}
	}
}
