package bench

import (
	"fmt"
	"slices"

	"tercet/internal/engine/kernel"
	"tercet/internal/lists"
)

// layerShape is a convolution of a network with the batch of its job.
type layerShape struct {
	net   string
	batch int
	times int // in the network
	conv  kernel.Conv
}

func square(side, c, outC, k, stride int) kernel.Conv {
	return kernel.Conv{H: side, W: side, C: c, OutC: outC, KH: k, KW: k, StrideH: stride, StrideW: stride, PadH: k / 2, PadW: k / 2}
}

// layerShapes are the different convolutions of the training jobs' networks, in
// each the first layer first.
func layerShapes() []layerShape {
	return slices.Concat([]layerShape{
		{"c2f2", 384, 1, square(28, 1, 32, 5, 1)},
		{"c2f2", 384, 1, square(14, 32, 64, 5, 1)},
		{"cnn47", 256, 1, square(28, 1, 47, 3, 1)},
		{"cnn47", 256, 1, square(28, 47, 94, 3, 1)},
		{"cnn47", 256, 1, square(14, 94, 94, 3, 1)},
	}, resnetShapes("rn18", 24, 224))
}

// layersOf returns the convolutions of a network among layerShapes.
func layersOf(net string) []layerShape {
	return slices.DeleteFunc(layerShapes(), func(s layerShape) bool { return s.net != net })
}

// resnetShapes are those of ResNet-18 on images of that side.
func resnetShapes(net string, batch, side int) []layerShape {
	s := []layerShape{
		{net, batch, 1, square(side, 3, 64, 7, 2)},
		{net, batch, 4, square(side/4, 64, 64, 3, 1)},
	}
	for stage := 1; stage < 4; stage++ {
		in, out, from := 32<<stage, 64<<stage, side>>(stage+1)
		s = append(s, layerShape{net, batch, 1, square(from, in, out, 3, 2)},
			layerShape{net, batch, 1, square(from, in, out, 1, 2)},
			layerShape{net, batch, 3, square(from/2, out, out, 3, 1)})
	}
	return s
}

// String is the network, height x width x channels of the input, kernel size,
// output channels and stride, as in rn18 56x56x64 3x3 128 /2.
func (s layerShape) String() string {
	g := s.conv
	name := fmt.Sprintf("%s %dx%dx%d %dx%d %d", s.net, g.H, g.W, g.C, g.KH, g.KW, g.OutC)
	if g.StrideH > 1 {
		name += fmt.Sprintf(" /%d", g.StrideH)
	}
	return name
}

func prepareConv(Options) ([]task, error) {
	out := lists.Flat(layerShapes(), func(s layerShape) []task { return s.tasks() })
	return out, nil
}

// tasks are the three directions of a layer, with the algorithms that a model's
// layer of that shape takes.
func (s layerShape) tasks() []task {
	p := s.conv.Plan()
	oh, ow := p.Out()
	images, weights, outputs := s.batch*p.H*p.W*p.C, p.KH*p.KW*p.C*p.OutC, s.batch*oh*ow*p.OutC
	direction := func(what string, a kernel.Algorithm, nx, nw, ny int, run func(x, w, y []float32), result int) task {
		var in [3][]float32
		return task{
			name:   fmt.Sprintf("%s %s (%v)", s, what, a),
			direct: float64(s.batch) * convFLOPs(p.Conv), executed: float64(s.batch) * executedFLOPs(p.Conv, a),
			warmUp: 2,
			run: repeat(func() error {
				if in[0] == nil {
					in = [3][]float32{normal(nx, "x"), normal(nw, "w"), normal(ny, "y")}
				}
				run(in[0], in[1], in[2])
				return nil
			}),
			results: func(visit func(string, []float32)) { visit(what, in[result]) },
		}
	}
	return []task{
		direction("forward", p.Fwd, images, weights, outputs, func(x, w, y []float32) { p.Forward(s.batch, x, w, nil, false, y) }, 2),
		direction("input", p.Input, images, weights, outputs, func(x, w, y []float32) { p.BackwardInput(s.batch, y, w, x) }, 0),
		direction("weights", p.Weights, images, weights, outputs, func(x, w, y []float32) { p.BackwardWeights(s.batch, x, y, w, nil) }, 1),
	}
}

// convFLOPs counts the products of one image in one direction of a convolution as
// the textbook has them, a multiply-add as two: padding counts.
func convFLOPs(g kernel.Conv) float64 {
	oh, ow := g.Out()
	return 2 * float64(g.C*g.OutC) * float64(oh*ow) * float64(g.KH*g.KW)
}

// executedFLOPs counts the products that algorithm a needs for the same: direct
// ones without those with padding, whether they are done or not; Winograd's with
// the zeros that fill its tiles, without its transforms, which are additions.
func executedFLOPs(g kernel.Conv, a kernel.Algorithm) float64 {
	channels := 2 * float64(g.C*g.OutC)
	if a == kernel.Direct {
		return channels * float64(inside(g.H, g.KH, g.StrideH, g.PadH)) * float64(inside(g.W, g.KW, g.StrideW, g.PadW))
	}
	side := 2 // of a tile
	if a == kernel.Winograd4 {
		side = 4
	}
	points := side + g.KH - 1
	oh, ow := g.Out()
	return channels * float64((oh+side-1)/side) * float64((ow+side-1)/side) * float64(points*points)
}

// inside counts the pairs of output and kernel position along one axis that meet
// the image.
func inside(size, kernel, stride, pad int) (n int) {
	for at := -pad; at+kernel <= size+pad; at += stride {
		n += min(at+kernel, size) - max(at, 0)
	}
	return n
}
