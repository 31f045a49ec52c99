package transform

import (
	"fmt"
	"math"

	"tercet/internal/component"
	"tercet/internal/imaging"
	"tercet/internal/rng"
)

func init() {
	register("Resize", "the shorter side to a length, or both sides to (height, width)", Resize{Interpolation: "bilinear"})
	register("CenterCrop", "the middle; images that are too small lie in black", CenterCrop{})
	register("RandomCrop", "a part at a random place", RandomCrop{})
	register("RandomResizedCrop", "a part of random area and aspect, resized", RandomResizedCrop{Scale: [2]float64{0.08, 1}, Ratio: [2]float64{3. / 4, 4. / 3}, Interpolation: "bilinear"})
	register("RandomHorizontalFlip", "mirrors left and right at random", RandomHorizontalFlip{P: 0.5})
}

func register(name, doc string, s Step) {
	Family.Register(component.Component[Step]{Name: name, Doc: doc, Defaults: s})
}

// Size is a side, or height and width.
type Size []int

// pair returns height and width, of one number a square.
func (s Size) pair() (h, w int) { return s[0], s[len(s)-1] }

func (s Size) faults() []component.Fault {
	if len(s) > 2 {
		return []component.Fault{component.Faultf("size", "must be one number or (height, width), has %d", len(s))}
	}
	return nil
}

// filter returns the filter of that name.
func filter(name string) imaging.Filter {
	if name == "bicubic" {
		return imaging.Bicubic
	}
	return imaging.Bilinear
}

// Resize is torchvision's on Pillow's images: always antialiased.
type Resize struct {
	Size          Size   `yaml:"size" check:">=1,<=4096" doc:"length of the shorter side, or (height, width)"`
	Interpolation string `yaml:"interpolation" enum:"bilinear|bicubic" doc:"filter"`
}

// Check implements component.Checker.
func (s Resize) Check() []component.Fault { return s.Size.faults() }

func (s Resize) random() bool { return false }

func (s Resize) target(h, w int) (nh, nw int) {
	if len(s.Size) == 2 {
		return s.Size.pair()
	}
	nh, nw = imaging.ShortSide(h, w, s.Size[0])
	// A strip of 1 x 16,384 would become one of 256 x 4,194,304.
	return min(nh, imaging.MaxPixels/s.Size[0]), min(nw, imaging.MaxPixels/s.Size[0])
}

func (s Resize) out(in shape) (shape, error) {
	switch {
	case len(s.Size) == 2:
		return fixed(s.Size.pair()), nil
	case in.h > 0 && in.w > 0:
		return fixed(s.target(in.h, in.w)), nil
	}
	return shape{least: s.Size[0]}, nil
}

func (s Resize) apply(c *Canvas) {
	h, w := s.target(c.img.H, c.img.W)
	if h == c.img.H && w == c.img.W {
		return
	}
	c.to(func(dst *imaging.Image) { c.resizer.Resize(dst, c.img, h, w, filter(s.Interpolation)) })
}

// applyPart resizes and crops in one go, with the same result; false says that the crop
// does not fit and nothing was done.
func (s Resize) applyPart(c *Canvas, crop cropper) bool {
	h, w := s.target(c.img.H, c.img.W)
	top, left, oh, ow, ok := crop.window(h, w, c.r)
	if ok {
		c.to(func(dst *imaging.Image) {
			c.resizer.Window(dst, c.img, h, w, top, left, oh, ow, filter(s.Interpolation))
		})
	}
	return ok
}

// CenterCrop is torchvision's: half of what is left, rounded half to even.
type CenterCrop struct {
	Size Size `yaml:"size" check:">=1,<=4096" doc:"side, or (height, width)"`
}

// Check implements component.Checker.
func (s CenterCrop) Check() []component.Fault { return s.Size.faults() }

func (s CenterCrop) random() bool { return false }

func (s CenterCrop) out(shape) (shape, error) { return fixed(s.Size.pair()), nil }

func (s CenterCrop) window(h, w int, _ *rng.Stream) (top, left, oh, ow int, ok bool) {
	oh, ow = s.Size.pair()
	top, left = imaging.Centered(h, w, oh, ow)
	return top, left, oh, ow, oh <= h && ow <= w
}

func (s CenterCrop) apply(c *Canvas) {
	h, w := s.Size.pair()
	if h > c.img.H || w > c.img.W {
		c.to(func(dst *imaging.Image) { imaging.PadTo(dst, c.img, h, w) })
	}
	top, left := imaging.Centered(c.img.H, c.img.W, h, w)
	c.img = c.img.Crop(top, left, h, w)
}

// RandomCrop is torchvision's, with black around the image where padding is set.
type RandomCrop struct {
	Size    Size `yaml:"size" check:">=1,<=4096" doc:"side, or (height, width)"`
	Padding int  `yaml:"padding" check:">=0,<=1024" doc:"black pixels on each side before the crop"`
}

// Check implements component.Checker.
func (s RandomCrop) Check() []component.Fault { return s.Size.faults() }

func (s RandomCrop) random() bool { return true }

func (s RandomCrop) out(in shape) (shape, error) {
	h, w := s.Size.pair()
	ih, iw := in.h, in.w
	if ih == 0 || iw == 0 {
		ih, iw = in.least, in.least
	}
	if h > ih+2*s.Padding || w > iw+2*s.Padding {
		return shape{}, fmt.Errorf("%dx%d pixels do not fit into images that may be as small as %dx%d: put a Resize before it", h, w, ih, iw)
	}
	return fixed(h, w), nil
}

func (s RandomCrop) window(h, w int, r *rng.Stream) (top, left, oh, ow int, ok bool) {
	oh, ow = s.Size.pair()
	if s.Padding > 0 || oh > h || ow > w {
		return 0, 0, 0, 0, false
	}
	return r.IntN(h - oh + 1), r.IntN(w - ow + 1), oh, ow, true
}

func (s RandomCrop) apply(c *Canvas) {
	if p := s.Padding; p > 0 {
		c.to(func(dst *imaging.Image) { imaging.Pad(dst, c.img, p, p, c.img.H+2*p, c.img.W+2*p) })
	}
	h, w := s.Size.pair()
	top := c.r.IntN(c.img.H - h + 1)
	c.img = c.img.Crop(top, c.r.IntN(c.img.W-w+1), h, w)
}

// RandomResizedCrop is torchvision's: the box is cut out first, so that the filter does
// not see what is around it.
type RandomResizedCrop struct {
	Size          Size       `yaml:"size" check:">=1,<=4096" doc:"side, or (height, width)"`
	Scale         [2]float64 `yaml:"scale" check:">0,<=1" doc:"smallest and largest share of the area"`
	Ratio         [2]float64 `yaml:"ratio" check:">=0.01,<=100" doc:"smallest and largest width over height"`
	Interpolation string     `yaml:"interpolation" enum:"bilinear|bicubic" doc:"filter"`
}

// Check implements component.Checker.
func (s RandomResizedCrop) Check() []component.Fault {
	return append(s.Size.faults(), rising("scale", s.Scale, "ratio", s.Ratio)...)
}

// rising returns the faults of ranges, each after its key, that fall.
func rising(list ...any) (out []component.Fault) {
	for i := 0; i < len(list); i += 2 {
		if r := list[i+1].([2]float64); r[0] > r[1] {
			out = append(out, component.Faultf(list[i].(string), "must rise: %s comes after %s", component.Number(r[1]), component.Number(r[0])))
		}
	}
	return out
}

func (s RandomResizedCrop) random() bool { return true }

func (s RandomResizedCrop) out(shape) (shape, error) { return fixed(s.Size.pair()), nil }

// tries is how often torchvision draws a box before it takes the middle.
const tries = 10

// box draws the part of an image of (h, w).
func (s RandomResizedCrop) box(h, w int, r *rng.Stream) (top, left, bh, bw int) {
	for range tries {
		area := float64(h*w) * between(s.Scale, r)
		ratio := math.Exp(between([2]float64{math.Log(s.Ratio[0]), math.Log(s.Ratio[1])}, r))
		bw = int(math.RoundToEven(math.Sqrt(area * ratio)))
		bh = int(math.RoundToEven(math.Sqrt(area / ratio)))
		if bw > 0 && bw <= w && bh > 0 && bh <= h {
			top = r.IntN(h - bh + 1)
			return top, r.IntN(w - bw + 1), bh, bw
		}
	}
	bh, bw = h, w
	switch in := float64(w) / float64(h); {
	case in < s.Ratio[0]:
		bh = min(int(math.RoundToEven(float64(w)/s.Ratio[0])), h)
	case in > s.Ratio[1]:
		bw = min(int(math.RoundToEven(float64(h)*s.Ratio[1])), w)
	}
	bh, bw = max(bh, 1), max(bw, 1)
	return (h - bh) / 2, (w - bw) / 2, bh, bw
}

// between draws from an interval.
func between(of [2]float64, r *rng.Stream) float64 {
	return of[0] + float64((of[1]-of[0])*r.Float64())
}

func (s RandomResizedCrop) apply(c *Canvas) {
	top, left, h, w := s.box(c.img.H, c.img.W, c.r)
	c.img = c.img.Crop(top, left, h, w)
	oh, ow := s.Size.pair()
	c.to(func(dst *imaging.Image) { c.resizer.Resize(dst, c.img, oh, ow, filter(s.Interpolation)) })
}

// RandomHorizontalFlip mirrors with probability P.
type RandomHorizontalFlip struct {
	P float64 `yaml:"p" check:">=0,<=1" doc:"probability"`
}

func (s RandomHorizontalFlip) random() bool { return true }

func (s RandomHorizontalFlip) out(in shape) (shape, error) { return in, nil }

func (s RandomHorizontalFlip) apply(c *Canvas) {
	if c.r.Float64() < s.P {
		c.owned().Mirror()
	}
}
