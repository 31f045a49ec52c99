// Package transform names the steps between a decoded image and a network's input as
// torchvision does, reads them from text and applies them to images of bytes. What is
// random in a step comes from the stream that it is given, and from nothing else.
package transform

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"tercet/internal/component"
	"tercet/internal/imaging"
	"tercet/internal/lists"
	"tercet/internal/rng"
)

// Family is the steps. A step registers itself in its file.
var Family = component.NewFamily[Step]("Resize", "CenterCrop", "RandomCrop", "RandomResizedCrop", "RandomHorizontalFlip", "ColorJitter", "RandomErasing")

// Step is one step: a struct whose tags are its arguments, in the order of torchvision.
type Step interface {
	// out returns the shape that it makes of images of a shape.
	out(s shape) (shape, error)
	// apply changes the canvas's image.
	apply(c *Canvas)
	// random says whether it draws anything.
	random() bool
}

// shape is what is known of images before they are read: height and width, 0 where they
// differ among images, and what no side is below.
type shape struct{ h, w, least int }

func fixed(h, w int) shape { return shape{h, w, min(h, w)} }

// cropper is a step that takes a part of the image. A resize before one computes that part
// alone.
type cropper interface {
	// window returns the part of an image of (h, w), or false where it is larger than
	// the image.
	window(h, w int, r *rng.Stream) (top, left, oh, ow int, ok bool)
}

// Canvas is the image that steps change, with their scratch. It serves one goroutine.
type Canvas struct {
	img     imaging.Image
	r       *rng.Stream
	resizer imaging.Resizer
	spare   [2]imaging.Image // img is in none or one of them
	turn    int
	own     bool // img is one of spare, not the caller's
}

// to calls make with storage that the image is not in, and takes what it made for the image.
func (c *Canvas) to(make func(dst *imaging.Image)) {
	c.turn = 1 - c.turn
	make(&c.spare[c.turn])
	c.img, c.own = c.spare[c.turn], true
}

// owned returns the image in storage that may be written to.
func (c *Canvas) owned() imaging.Image {
	if !c.own {
		c.to(func(dst *imaging.Image) { c.resizer.Resize(dst, c.img, c.img.H, c.img.W, imaging.Bilinear) })
	}
	return c.img
}

// Pipeline is steps in their order.
type Pipeline []Step

// Apply returns what the steps make of img, whose bytes stay. The result may share them, or
// is valid until the canvas is used again. A pipeline that is not Random takes a nil stream.
func (p Pipeline) Apply(c *Canvas, img imaging.Image, r *rng.Stream) imaging.Image {
	c.img, c.r, c.own = img, r, false
	for i := 0; i < len(p); i++ {
		if resize, ok := p[i].(Resize); ok && i+1 < len(p) {
			if crop, ok := p[i+1].(cropper); ok && resize.applyPart(c, crop) {
				i++
				continue
			}
		}
		p[i].apply(c)
	}
	return c.img
}

// Random says whether any step draws.
func (p Pipeline) Random() bool { return slices.ContainsFunc(p, Step.random) }

// Shape returns the height and width of what the steps make of images of any sizes. It is
// an error where these differ from image to image, or a step asks for more than it gets.
func (p Pipeline) Shape() (h, w int, err error) {
	s := shape{least: 1}
	for i, step := range p {
		if s, err = step.out(s); err != nil {
			return 0, 0, fmt.Errorf("step %d, %s: %w", i+1, Name(step), err)
		}
	}
	if s.h == 0 || s.w == 0 {
		return 0, 0, errors.New("images keep different sizes: end with CenterCrop(224), RandomResizedCrop(224) or Resize((256, 256))")
	}
	return s.h, s.w, nil
}

// String writes all steps with all their arguments.
func (p Pipeline) String() string {
	parts := lists.Map(p, Text)
	return strings.Join(parts, ", ")
}
