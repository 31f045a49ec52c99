package nn

import (
	"cmp"
	"fmt"

	"tercet/internal/component"
)

func init() {
	Family.Register(component.Component[Keys]{Name: "resnet18", Doc: "residual network of 18 layers", Defaults: ResNet18Keys{Width: 64, Stem: "imagenet"}, Preset: map[string]any{"embedding": 512}})
}

// ResNet18Keys are the keys of resnet18.
type ResNet18Keys struct {
	Width int    `yaml:"width" check:">=1,<=8192" doc:"channels of the first stage; the others have 2, 4 and 8 times as many"`
	Stem  string `yaml:"stem" enum:"imagenet|small" doc:"imagenet: 7x7 stride 2 and pooling; small: 3x3 stride 1, for images of about 32 pixels"`
}

func (ResNet18Keys) options() []string { return []string{"units", "stem"} }

// Set implements Setter.
func (k ResNet18Keys) Set(s *Spec) { s.Stem, s.Units = k.Stem, k.Width }

// layers returns torchvision's ResNet-18 (He et al. 2016, table 1) with an embedding
// layer for its classifier. The stem is imagenet (conv7x7/2, batch norm, ReLU,
// maxpool3x3/2) or small (conv3x3/1, batch norm, ReLU, no pool), which is the
// default below 64 pixels. Units scales the stages Units x (1, 2, 4, 8).
func (ResNet18Keys) layers(s *Spec) ([]Layer, error) {
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
