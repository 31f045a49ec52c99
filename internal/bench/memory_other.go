//go:build !linux

package bench

func resetPeakRSS() {}

// peakRSS is not known on this system.
func peakRSS() uint64 { return 0 }
