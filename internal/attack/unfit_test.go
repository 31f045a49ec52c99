package attack

import (
	"errors"
	"strings"
	"testing"

	"tercet/internal/engine/array"
)

// What a gallery does not allow is distinguished from what is wrong elsewhere.
func TestUnfitGalleries(t *testing.T) {
	gallery := func(labels ...int32) *Gallery {
		x := array.New(len(labels), 2)
		for i := range x.Data {
			x.Data[i] = float32(i % 7)
		}
		g, err := NewGallery(x, labels)
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
	queries := func(labels ...int32) error {
		_, _, err := chooseQueries(labels, Options{})
		return err
	}
	for want, err := range map[string]error{
		"there is nothing wrong to be found": queries(3, 3, 3),
		"so there is nothing to find":        queries(0, 1, 2),
		"protects 5 items":                   method("SPQA+", MethodOptions{}),
		"SPQA-: m is 1, but there are 0":     method("SPQA-", MethodOptions{}),
		"QA-: m is 2, but there are 1":       method("QA-", MethodOptions{M: 2}),
	} {
		if err == nil || !errors.Is(err, ErrUnfit) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
		if got := errors.Is(err, ErrTooMany); got != strings.Contains(want, "there are 1") {
			t.Errorf("%v: too many targets: %v", err, got)
		}
	}
	if _, err := NewGallery(array.New(1, 2), []int32{0}); !errors.Is(err, ErrUnfit) {
		t.Error(err)
	}
	if err := method("CA+", MethodOptions{W: -1}); err == nil || errors.Is(err, ErrUnfit) {
		t.Error(err)
	}
}
