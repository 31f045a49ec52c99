package kernel_test

import (
	"testing"

	"tercet/internal/engine/kernel"
)

func TestVectors(t *testing.T) {
	for _, l := range suiteLevels() {
		t.Run(l.String(), func(t *testing.T) {
			restore, err := kernel.Force(l)
			if err != nil {
				t.Fatal(err)
			}
			defer restore()
			RunVectors(t)
		})
	}
}
