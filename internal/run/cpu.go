package run

import (
	"bufio"
	"os"
	"runtime"
	"strings"
)

// CPUName is the processor's name where the system tells it (Linux), otherwise
// the architecture.
func CPUName() string {
	f, err := os.Open("/proc/cpuinfo")
	if err != nil {
		return runtime.GOARCH
	}
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		if key, value, ok := strings.Cut(s.Text(), ":"); ok && strings.TrimSpace(key) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return runtime.GOARCH
}
