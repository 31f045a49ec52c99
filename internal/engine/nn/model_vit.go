package nn

import (
	"fmt"

	"tercet/internal/component"
)

func init() {
	Family.Register(component.Component[Keys]{Name: "vit-s16", Doc: "vision transformer ViT-S/16", Preset: map[string]any{"embedding": 0},
		Defaults: ViTKeys{Head: "none", MeanStd: Standard{"none", knownStandard{}}}})
}

// ViTKeys are the keys of vit-s16.
type ViTKeys struct {
	Head    string   `yaml:"head" enum:"none|linear|layernorm|layernorm-linear" doc:"how the class token becomes the embedding: as it is; by a linear layer; by layer normalization without parameters; or by that and a linear layer"`
	MeanStd Standard `yaml:"mean_std" doc:"how pixels are normalized before the first convolution"`
}

func (ViTKeys) options() []string { return []string{"head", "mean_std"} }

// Set implements Setter.
func (k ViTKeys) Set(s *Spec) {
	s.Head = k.Head
	if k.MeanStd.Options != nil {
		s.MeanStd = k.MeanStd.Options.MeanStd()
	}
}

// layers returns ViT-S/16 (Dosovitskiy et al. 2021; Touvron et al. 2021), with timm's
// names: 12 blocks of 6 heads on tokens of 384 numbers.
func (ViTKeys) layers(s *Spec) ([]Layer, error) {
	const patch = 16
	if s.Height%patch != 0 || s.Width%patch != 0 {
		return nil, fmt.Errorf("images are cut into squares of %d pixels: %dx%d is not a multiple; set data.crop or data.size to one such as 224", patch, s.Height, s.Width)
	}
	if s.Head == "" {
		s.Head = "none"
	}
	layers := vitLayers(384, 12, 6, patch)
	head, err := headAfter(s, 384)
	return append(layers, head...), err
}

// vitLayers returns a vision transformer whose blocks normalize first, up to its class
// token.
func vitLayers(width, depth, heads, patch int) []Layer {
	const eps = 1e-6
	layers := []Layer{NewConv2D("patch_embed.proj", width, patch, patch, 0, true), NewTokens("tokens")}
	for i := range depth {
		b := fmt.Sprintf("blocks.%d", i)
		layers = append(layers,
			NewResidual(b+".attention", NewSequential(b+".attention", NewLayerNorm(b+".norm1", eps, true),
				NewLinear(b+".attn.qkv", 3*width, true), NewAttention(b+".attn", heads), NewLinear(b+".attn.proj", width, true)), nil),
			NewResidual(b+".mlp", NewSequential(b+".mlp", NewLayerNorm(b+".norm2", eps, true),
				NewLinear(b+".mlp.fc1", 4*width, true), NewGELU(b+".mlp.act"), NewLinear(b+".mlp.fc2", width, true)), nil))
	}
	// Normalization is for each token: that of the class token is all that is needed.
	return append(layers, NewFirstToken("class"), NewLayerNorm("norm", eps, true))
}
