package base

import (
	"os"
	"runtime/debug"
	"sync"
)

const (
	// garbageShare is how much garbage there may be, in percent of what is in use.
	garbageShare = 25
	// freeMemory is what a command may take beyond twice its input, 64 MiB by the rule of
	// docs/run-directory.md, which make hostile holds commands to; some is left for what is
	// not counted.
	freeMemory = 56 << 20
)

// saving is how many commands of this process save memory, and what they began with.
var saving struct {
	sync.Mutex
	commands     int
	share, limit int64
}

// SaveMemory lets garbage take less than it does by default, as much as what is in use: of
// commands that read large files of other tools. Numbers, which such files are, cost a
// search for garbage next to nothing. Near the limit that such a command promises for the
// inputs (names of files, "" for none), garbage is searched for more often. Who sets GOGC
// or GOMEMLIMIT has decided otherwise. The command calls end when it is done: a program
// that runs several, as tests do, has the settings of before after the last one.
func SaveMemory(inputs ...string) (end func()) {
	saving.Lock()
	defer saving.Unlock()
	share, limit := int64(-1), int64(-1)
	if os.Getenv("GOGC") == "" {
		share = int64(debug.SetGCPercent(garbageShare))
	}
	most := int64(freeMemory)
	for _, path := range inputs {
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			most += 2 * info.Size()
		}
	}
	if os.Getenv("GOMEMLIMIT") == "" {
		limit = debug.SetMemoryLimit(-1) // reads it
		if most > freeMemory {
			debug.SetMemoryLimit(most)
		}
	}
	if saving.commands++; saving.commands == 1 {
		saving.share, saving.limit = share, limit
	}
	return stopSaving
}

func stopSaving() {
	saving.Lock()
	defer saving.Unlock()
	if saving.commands--; saving.commands > 0 {
		return
	}
	if saving.share >= 0 {
		debug.SetGCPercent(int(saving.share))
	}
	if saving.limit >= 0 {
		debug.SetMemoryLimit(saving.limit)
	}
}
