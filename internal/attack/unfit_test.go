package attack

import (
	"errors"
	"strings"
	"testing"

	"tercet/internal/attack/retrieval"
	"tercet/internal/engine/array"
)

// What a gallery does not allow is distinguished from what is wrong elsewhere.
func TestUnfitGalleries(t *testing.T) {
	gallery := func(labels ...int32) *retrieval.Gallery {
		x := array.New(len(labels), 2)
		for i := range x.Data {
			x.Data[i] = float32(i % 7)
		}
		g, err := retrieval.NewGallery(x, labels)
		if err != nil {
			t.Fatal(err)
		}
		return g
	}
	small := gallery(0, 0, 1, 1)
	method := func(name string, o MethodOptions) error {
		_, err := NewMethod(name, small, Fixed, o)
		return err
	}
	for want, err := range map[string]error{
		"protects 5 items":               method("SPQA+", MethodOptions{}),
		"SPQA-: m is 1, but there are 0": method("SPQA-", MethodOptions{}),
		"QA-: m is 2, but there are 1":   method("QA-", MethodOptions{M: 2}),
	} {
		if err == nil || !errors.Is(err, retrieval.ErrUnfit) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
		if got := errors.Is(err, ErrTooMany); got != strings.Contains(want, "there are 1") {
			t.Errorf("%v: too many targets: %v", err, got)
		}
	}
	if err := method("CA+", MethodOptions{W: -1}); err == nil || errors.Is(err, retrieval.ErrUnfit) {
		t.Error(err)
	}
}
