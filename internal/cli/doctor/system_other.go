//go:build !linux

package doctor

import (
	"fmt"
	"runtime"

	"tercet/internal/record/printed"
)

// Memory is not known on this system.
func Memory() *printed.Memory { return nil }

// checkPages: other systems choose the size of pages themselves.
func checkPages() (printed.DoctorCheck, bool) { return printed.DoctorCheck{}, false }

// diskFree is not known on this system.
func diskFree(path string) (uint64, error) {
	return 0, fmt.Errorf("free space of %s: not known on %s", path, runtime.GOOS)
}
