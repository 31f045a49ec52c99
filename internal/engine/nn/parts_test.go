package nn

import (
	"slices"
	"strings"
	"testing"

	"tercet/internal/engine/array"
	"tercet/internal/rng"
)

func TestHeadAlone(t *testing.T) {
	t.Parallel()
	m := build(t, Spec{Name: "resnet50", Height: 9, Width: 8, Channels: 3, Units: 2, Embedding: 5})
	trunk, head, err := m.Parts()
	if err != nil || len(head) != 2 || head[0].Name != "fc.weight" || head[1].Name != "fc.bias" || len(trunk) != 159 {
		t.Fatalf("%d and %d parameters, error %v", len(trunk), len(head), err)
	}
	x := images(3, m.in, rng.New(1, "x").NormFloat64)
	pass := func() (fc, conv []float32) {
		zero(m.net)
		dz := array.New(3, 5)
		copy(dz.Data, m.Embed(x, Train).Data)
		m.Backward(dz, Weights)
		return slices.Clone(head[0].Grad.Data), slices.Clone(trunk[0].Grad.Data)
	}
	fc, conv := pass()
	m.TrainHead(true)
	alone, none := pass()
	if !sameBits(alone, fc) || slices.ContainsFunc(none, func(v float32) bool { return v != 0 }) {
		t.Error("the head alone: other gradients of the head, or some of the trunk")
	}
	m.TrainHead(false)
	if again, all := pass(); !sameBits(again, fc) || !sameBits(all, conv) {
		t.Error("the head is still trained alone")
	}

	for _, s := range []Spec{{Name: "resnet18", Height: 8, Width: 8, Channels: 3, Units: 2, Head: "none"}, {Name: "resnet18", Height: 8, Width: 8, Channels: 3, Units: 2, Head: "layernorm"}} {
		if _, _, err := build(t, s).Parts(); err == nil || !strings.Contains(err.Error(), "model resnet18 does not end in a linear layer") {
			t.Errorf("head %s: %v", s.Head, err)
		}
	}
}

// With frozen weight and bias of batch norm all other gradients stay the same.
func TestFreezeBatchNorm(t *testing.T) {
	t.Parallel()
	s := Spec{Name: "resnet18", Height: 40, Width: 33, Channels: 3, Units: 2, Embedding: 5, Stem: "imagenet"}
	free, frozen := build(t, s), build(t, s)
	frozen.FreezeBatchNorm()
	if got, want := free.ParamCount()-frozen.ParamCount(), 2*(2+4*2+5*4+5*8+5*16); got != want {
		t.Errorf("%d numbers are frozen, want %d", got, want)
	}
	x := images(3, free.in, rng.New(1, "x").NormFloat64)
	for _, m := range []*Model{free, frozen} {
		dz := array.New(3, 5)
		copy(dz.Data, m.Embed(x, Frozen).Data)
		m.Backward(dz, Weights)
	}
	for i, p := range frozen.Params() {
		switch want := free.Params()[i]; {
		case !p.Trained() && want.Trained() && !strings.Contains(p.Name, "bn") && !strings.Contains(p.Name, "downsample.1"):
			t.Errorf("%s is frozen", p.Name)
		case p.Trained() && !sameBits(p.Grad.Data, want.Grad.Data):
			t.Errorf("%s has another gradient", p.Name)
		}
	}
}
