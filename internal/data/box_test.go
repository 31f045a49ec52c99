package data

import (
	"image"
	"testing"

	"tercet/internal/testutil"
)

func TestBoxIn(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		box, want image.Rectangle
	}{
		{image.Rectangle{}, image.Rect(0, 0, 30, 20)},
		{image.Rect(3, 4, 10, 12), image.Rect(3, 4, 10, 12)},
		{image.Rect(0, 0, 30, 20), image.Rect(0, 0, 30, 20)},
		{image.Rect(-1, 5, 31, 21), image.Rect(0, 5, 30, 20)},
	} {
		if got, err := boxIn("a.jpg", c.box, 20, 30); err != nil || got != c.want {
			t.Errorf("%v: %v, %v", c.box, got, err)
		}
	}
	for _, box := range []image.Rectangle{image.Rect(0, 0, 32, 20), image.Rect(0, 0, 30, 22), image.Rect(-2, 0, 5, 5), image.Rect(30, 0, 31, 5), image.Rect(100, 100, 120, 120)} {
		_, err := boxIn("a.jpg", box, 20, 30)
		testutil.WantError(t, err, ErrFormat, "a.jpg has 20x30 pixels", "lies outside")
	}
}
