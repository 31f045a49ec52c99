package bench

import (
	"bytes"
	"os"
	"runtime/debug"
	"strconv"
)

// resetPeakRSS starts the peak afresh, where the system lets it, with no more
// memory than is in use.
func resetPeakRSS() {
	debug.FreeOSMemory()
	// 5 resets VmHWM (proc(5)). Where it may not be written the peak stays that of
	// the process, which is never too low.
	_ = os.WriteFile("/proc/self/clear_refs", []byte("5"), 0)
}

// peakRSS returns the largest resident size since resetPeakRSS in bytes, 0 where
// the system does not tell.
func peakRSS() uint64 {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	for line := range bytes.Lines(status) {
		if rest, ok := bytes.CutPrefix(line, []byte("VmHWM:")); ok {
			fields := bytes.Fields(rest)
			if len(fields) == 0 {
				return 0
			}
			kib, err := strconv.ParseUint(string(fields[0]), 10, 64)
			if err != nil {
				return 0
			}
			return kib << 10
		}
	}
	return 0
}
