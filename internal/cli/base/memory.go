package base

import (
	"os"
	"runtime/debug"
)

const (
	// garbageShare is how much garbage there may be, in percent of what is in use.
	garbageShare = 25
	// freeMemory is what a command may take beyond twice its input, 64 MiB by the rule of
	// docs/run-directory.md, which make hostile holds commands to; some is left for what is
	// not counted.
	freeMemory = 56 << 20
)

// SaveMemory lets garbage take less than it does by default, as much as what is in use: of
// commands that read large files of other tools. Numbers, which such files are, cost a
// search for garbage next to nothing. Near the limit that such a command promises for the
// inputs (names of files, "" for none), garbage is searched for more often. Who sets GOGC
// or GOMEMLIMIT has decided otherwise.
func SaveMemory(inputs ...string) {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(garbageShare)
	}
	limit := int64(freeMemory)
	for _, path := range inputs {
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			limit += 2 * info.Size()
		}
	}
	if limit > freeMemory && os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(limit)
	}
}
