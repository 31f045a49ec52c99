package base

import (
	"os"
	"path/filepath"
	"runtime/debug"
	"testing"
)

// The settings of the collector are those of before when the last of the commands that
// save memory ends.
func TestSavingMemoryEnds(t *testing.T) {
	if os.Getenv("GOGC") != "" || os.Getenv("GOMEMLIMIT") != "" {
		t.Skip("the environment decides")
	}
	share := func() int {
		now := debug.SetGCPercent(50)
		debug.SetGCPercent(now)
		return now
	}
	before, limit := share(), debug.SetMemoryLimit(-1)
	input := filepath.Join(t.TempDir(), "x")
	if err := os.WriteFile(input, make([]byte, 100), 0o644); err != nil {
		t.Fatal(err)
	}
	one := SaveMemory(input)
	if got := debug.SetMemoryLimit(-1); share() != garbageShare || got != freeMemory+200 {
		t.Errorf("share %d, limit %d", share(), got)
	}
	two := SaveMemory("")
	one()
	if share() != garbageShare {
		t.Error("a command that ends takes the saving from another")
	}
	two()
	if got := debug.SetMemoryLimit(-1); share() != before || got != limit {
		t.Errorf("share %d, limit %d; they were %d and %d", share(), got, before, limit)
	}
}
