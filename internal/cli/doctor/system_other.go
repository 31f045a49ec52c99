//go:build !linux

package doctor

import (
	"fmt"
	"runtime"

	"tercet/internal/record/printed"
)

// memory is not known on this system.
func Memory() *printed.Memory { return nil }

// diskFree is not known on this system.
func diskFree(path string) (uint64, error) {
	return 0, fmt.Errorf("free space of %s: not known on %s", path, runtime.GOOS)
}
