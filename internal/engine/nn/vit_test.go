package nn

import (
	"strings"
	"testing"

	"tercet/internal/rng"
	"tercet/internal/testutil"
)

// ViT-S/16 has timm's names, and torchvision's outputs and gradients.
func TestViTAgainstTorchvision(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("a network of its true size: minutes with plain Go kernels")
	}
	var g torchvision
	testutil.ReadJSON(t, "testdata/vit.json", &g)
	want := g.Nets["vit-s16"]
	m := g.net(t, Spec{Name: "vit-s16"}, 224, 224)
	sameState(t, m.TorchTensors(), want.State)
	within(t, "224x224", m.Embed(g.images("square", 2, 224, 224), Eval).Data, want.Square.numbers(t), 1e-4)
	_, most := g.gradients(t, Spec{Name: "vit-s16", Embedding: 64, Head: "linear", Normalize: true}, Frozen, want.Frozen)
	if !(most <= 1e-4) {
		t.Errorf("gradients are off by up to %.3g of a tensor's largest number", most)
	}
}

// The parts of a transformer and a small one, against float64 loops and finite
// differences.
func TestTransformerGradients(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		in   []int
		make func() Layer
	}{
		{"linear of tokens", []int{3, 9}, func() Layer { return NewLinear("l", 5, true) }},
		{"gelu", []int{3, 9}, func() Layer { return NewGELU("g") }},
		{"attention", []int{5, 24}, func() Layer { return NewAttention("a", 2) }},
		{"attention of one token", []int{1, 9}, func() Layer { return NewAttention("a", 1) }},
		{"tokens", []int{2, 3, 4}, func() Layer { return NewTokens("t") }},
		{"first token", []int{4, 3}, func() Layer { return NewFirstToken("f") }},
		{"transformer", []int{8, 12, 3}, func() Layer { return NewSequential("s", vitLayers(8, 2, 2, 4)...) }},
	} {
		for mode, name := range map[Mode]string{Eval: "eval", Train: "train", Frozen: "frozen"} {
			t.Run(c.name+"/"+name, func(t *testing.T) { check(t, c.make(), 3, c.in, mode, 60) })
		}
	}
}

func TestViTRefuses(t *testing.T) {
	t.Parallel()
	for want, s := range map[string]Spec{
		"100x224 is not a multiple": {Name: "vit-s16", Height: 100, Width: 224, Channels: 3},
		"the 384 features":          {Name: "vit-s16", Height: 32, Width: 32, Channels: 3, Embedding: 5},
		"has no option pool":        {Name: "vit-s16", Height: 32, Width: 32, Channels: 3, Pool: "max"},
	} {
		if _, err := Build(s, rng.New(1, "model")); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q, got %v", want, err)
		}
	}
}
