package nn

import (
	"cmp"
	"fmt"
)

// resnet18 is torchvision's ResNet-18 (He et al. 2016, table 1) with an embedding
// layer for its classifier. The stem is imagenet (conv7x7/2, batch norm, ReLU,
// maxpool3x3/2) or small (conv3x3/1, batch norm, ReLU, no pool), which is the
// default below 64 pixels. Units scales the stages Units x (1, 2, 4, 8).
func resnet18(s *Spec) ([]Layer, error) {
	def := "imagenet"
	if min(s.Height, s.Width) < 64 {
		def = "small"
	}
	if err := choose("stem", &s.Stem, def, "imagenet", "small"); err != nil {
		return nil, err
	}
	s.Units, s.Embedding = cmp.Or(s.Units, 64), cmp.Or(s.Embedding, 512)
	units := s.Units
	var layers []Layer
	if s.Stem == "imagenet" {
		layers = append(layers, NewConv2D("conv1", units, 7, 2, 3, false))
	} else {
		layers = append(layers, NewConv2D("conv1", units, 3, 1, 1, false))
	}
	layers = append(layers, NewBatchNorm2D("bn1"), NewReLU("relu"))
	if s.Stem == "imagenet" {
		layers = append(layers, NewMaxPool("maxpool", 3, 2, 1))
	}
	in := units
	for stage := range 4 {
		out := units << stage
		for block := range 2 {
			stride := 1
			if stage > 0 && block == 0 {
				stride = 2
			}
			name := fmt.Sprintf("layer%d.%d", stage+1, block)
			layers = append(layers, basicBlock(name, in, out, stride), NewReLU(name+".relu2"))
			in = out
		}
	}
	return append(layers, NewGlobalAvgPool("avgpool"), NewLinear("fc", s.Embedding, true)), nil
}

// basicBlock is conv3x3 - BN - ReLU - conv3x3 - BN plus a shortcut, a 1x1
// projection with BN where the shape changes. The ReLU after it is separate.
func basicBlock(name string, in, out, stride int) Layer {
	body := NewSequential(name,
		NewConv2D(name+".conv1", out, 3, stride, 1, false), NewBatchNorm2D(name+".bn1"), NewReLU(name+".relu1"),
		NewConv2D(name+".conv2", out, 3, 1, 1, false), NewBatchNorm2D(name+".bn2"))
	if stride == 1 && in == out {
		return NewResidual(name, body, nil)
	}
	return NewResidual(name, body, NewSequential(name+".downsample",
		NewConv2D(name+".downsample.0", out, 1, stride, 0, false), NewBatchNorm2D(name+".downsample.1")))
}
