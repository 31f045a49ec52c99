package base

import (
	"os"
	"runtime/debug"
)

// garbageShare is how much garbage there may be, in percent of what is in use.
const garbageShare = 25

// SaveMemory lets garbage take less than it does by default, as much as what is in use: of
// commands that read large files of other tools. Numbers, which such files are, cost a
// search for garbage next to nothing. Who sets GOGC has decided otherwise.
func SaveMemory() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(garbageShare)
	}
}
