package testutil

import (
	"context"
	"errors"
	"strings"
	"testing"

	"tercet/internal/rng"
)

// Toy returns items of 8 bits, size numbers each, with counts[k] items of class k, in
// random order, and the names of the classes.
func Toy(size int, counts ...int) (pixels []uint8, labels []int32, classes []string) {
	for k, n := range counts {
		classes = append(classes, string(rune('a'+k)))
		for range n {
			labels = append(labels, int32(k))
		}
	}
	r := rng.New(1, "toy", uint64(len(labels)))
	r.Shuffle(len(labels), func(i, j int) { labels[i], labels[j] = labels[j], labels[i] })
	pixels = make([]uint8, len(labels)*size)
	for i := range pixels {
		pixels[i] = uint8(r.Uint32())
	}
	return pixels, labels, classes
}

// WantError checks an error's kind (nil: any) and the parts of its text.
func WantError(t testing.TB, err, kind error, parts ...string) {
	t.Helper()
	if err == nil {
		t.Fatal("no error")
	}
	if kind != nil && !errors.Is(err, kind) {
		t.Errorf("error %q is not %q", err, kind)
	}
	for _, p := range parts {
		if !strings.Contains(err.Error(), p) {
			t.Errorf("error %q does not say %q", err, p)
		}
	}
}

// Fingerprint is that of a dataset.
func Fingerprint(t testing.TB, ds interface {
	Fingerprint(context.Context) (string, error)
}) string {
	t.Helper()
	print, err := ds.Fingerprint(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return print
}
