package nn

import (
	"cmp"
	"fmt"

	"tercet/internal/component"
)

func init() {
	for _, n := range []struct {
		name, doc string
		dim       int // preset of model.embedding
		blocks    [4]int
		expansion int
	}{
		{"resnet18", "residual network of 18 layers", 512, [4]int{2, 2, 2, 2}, 1},
		{"resnet34", "residual network of 34 layers", 0, [4]int{3, 4, 6, 3}, 1},
		{"resnet50", "residual network of 50 layers, with bottleneck blocks", 0, [4]int{3, 4, 6, 3}, bottleneckExpansion},
	} {
		Family.Register(component.Component[Keys]{Name: n.name, Doc: n.doc, Preset: map[string]any{"embedding": n.dim},
			Defaults: ResNetKeys{Width: 64, Stem: "imagenet", Pool: "avg", Head: "linear", MeanStd: Standard{"none", knownStandard{}}, blocks: n.blocks, expansion: n.expansion}})
	}
}

// bottleneckExpansion is how many times more channels a bottleneck block has at its
// end than within.
const bottleneckExpansion = 4

// ResNetKeys are the keys of resnet18, resnet34 and resnet50.
type ResNetKeys struct {
	Width int    `yaml:"width" check:">=1,<=8192" doc:"channels of the first stage; the others have 2, 4 and 8 times as many"`
	Stem  string `yaml:"stem" enum:"imagenet|small" doc:"imagenet: 7x7 stride 2 and pooling; small: 3x3 stride 1, for images of about 32 pixels"`
	Pool  string `yaml:"pool" enum:"avg|max|avg+max" omit:"avg" doc:"how the last map becomes a vector of features: its mean, its maximum, or the sum of both"`
	Head  string `yaml:"head" enum:"linear|layernorm|layernorm-linear|none" omit:"linear" doc:"how features become the embedding: by a linear layer; by layer normalization without parameters; by that and a linear layer; or as they are"`

	MeanStd Standard `yaml:"mean_std" doc:"how pixels are normalized before the first convolution"`

	blocks    [4]int // of each stage
	expansion int    // 1: basic blocks
}

func (ResNetKeys) options() []string { return []string{"units", "stem", "pool", "head", "mean_std"} }

// Set implements Setter. A Spec leaves out what is torchvision's.
func (k ResNetKeys) Set(s *Spec) {
	s.Stem, s.Units = k.Stem, k.Width
	if k.Pool != "avg" {
		s.Pool = k.Pool
	}
	if k.Head != "linear" {
		s.Head = k.Head
	}
	if k.MeanStd.Options != nil {
		s.MeanStd = k.MeanStd.Options.MeanStd()
	}
}

// layers returns torchvision's ResNet (He et al. 2016, table 1; the stride of a
// bottleneck in its 3x3 convolution) with an embedding in place of its classifier.
// The stem is imagenet (conv7x7/2, batch norm, ReLU, maxpool3x3/2) or small (conv3x3/1,
// batch norm, ReLU, no pool), which is the default below 64 pixels. Units scales the
// stages Units x (1, 2, 4, 8).
func (k ResNetKeys) layers(s *Spec) ([]Layer, error) {
	def := "imagenet"
	if min(s.Height, s.Width) < 64 {
		def = "small"
	}
	if err := choose("stem", &s.Stem, def, "imagenet", "small"); err != nil {
		return nil, err
	}
	s.Units = cmp.Or(s.Units, 64)
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
	for stage, blocks := range k.blocks {
		width, out := units<<stage, units<<stage*k.expansion
		for i := range blocks {
			stride := 1
			if stage > 0 && i == 0 {
				stride = 2
			}
			name := fmt.Sprintf("layer%d.%d", stage+1, i)
			if k.expansion > 1 {
				layers = append(layers, bottleneckBlock(name, in, width, stride), NewReLU(name+".relu3"))
			} else {
				layers = append(layers, basicBlock(name, in, out, stride), NewReLU(name+".relu2"))
			}
			in = out
		}
	}
	head, err := headLayers(s, in)
	return append(layers, head...), err
}

// basicBlock is conv3x3 - BN - ReLU - conv3x3 - BN plus a shortcut, a 1x1
// projection with BN where the shape changes. The ReLU after it is separate.
func basicBlock(name string, in, out, stride int) Layer {
	return shortcutBlock(name, in, out, stride,
		NewConv2D(name+".conv1", out, 3, stride, 1, false), NewBatchNorm2D(name+".bn1"), NewReLU(name+".relu1"),
		NewConv2D(name+".conv2", out, 3, 1, 1, false), NewBatchNorm2D(name+".bn2"))
}

// bottleneckBlock is conv1x1 - BN - ReLU - conv3x3 - BN - ReLU - conv1x1 - BN, which
// ends in four times width channels, plus a shortcut as that of basicBlock.
func bottleneckBlock(name string, in, width, stride int) Layer {
	out := width * bottleneckExpansion
	return shortcutBlock(name, in, out, stride,
		NewConv2D(name+".conv1", width, 1, 1, 0, false), NewBatchNorm2D(name+".bn1"), NewReLU(name+".relu1"),
		NewConv2D(name+".conv2", width, 3, stride, 1, false), NewBatchNorm2D(name+".bn2"), NewReLU(name+".relu2"),
		NewConv2D(name+".conv3", out, 1, 1, 0, false), NewBatchNorm2D(name+".bn3"))
}

// shortcutBlock is the residual block of that body.
func shortcutBlock(name string, in, out, stride int, body ...Layer) Layer {
	if stride == 1 && in == out {
		return NewResidual(name, NewSequential(name, body...), nil)
	}
	return NewResidual(name, NewSequential(name, body...), NewSequential(name+".downsample",
		NewConv2D(name+".downsample.0", out, 1, stride, 0, false), NewBatchNorm2D(name+".downsample.1")))
}
