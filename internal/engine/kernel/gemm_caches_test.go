package kernel

import "testing"

// fullest returns how many of the cache lines of so many numbers' addresses fall into the
// same of 64 sets, as the first caches of both vendors have them.
func fullest(addresses []int) int {
	lines := map[int]bool{}
	var sets [64]int
	most := 0
	for _, at := range addresses {
		if line := at / 16; !lines[line] {
			lines[line] = true
			sets[line%64]++
			most = max(most, sets[line%64])
		}
	}
	return most
}

// What a tile reads again and again has room in the ways of the first cache, also where the
// matrix has rows a multiple of 4 KiB apart (of 512 bytes, with the larger caches): a model of
// the caches of both vendors, since a machine has only one.
func TestTilesDoNotCrowdTheFirstCache(t *testing.T) {
	const m, k, columns = 168, 384, 1024
	defer func(b blocking) { blocks = b }(blocks)
	s := tileShape{rows: 14, wide: 32, narrow: 16}
	for _, processor := range []struct {
		name            string
		second, ways    int
		step            int // of the distances below, in numbers
		transposedLines int // that one step of k reads of a transposed A
	}{{"Zen 4", 1 << 20, 8, 1024, 1}, {"Sapphire Rapids", 2 << 20, 12, 128, 2}} {
		blocks = blockingFor(processor.second)
		for ld := max(k, processor.step); ld <= 4096; ld += processor.step {
			var w gemmScratch
			data := make([]float32, k*ld)
			var rows, steps []int
			a := w.blockA(s, view{data, ld, 1}, m, k, columns)
			for i := range s.rows {
				rows = append(rows, i*a.rs)
			}
			a = w.blockA(s, view{data, 1, ld}, m, k, columns)
			for p := range k {
				for line := range processor.transposedLines {
					steps = append(steps, p*a.cs+16*line)
				}
			}
			for name, got := range map[string]int{"rows of A": fullest(rows), "steps of a transposed A": fullest(steps)} {
				if got > processor.ways {
					t.Errorf("%s, %s %d numbers apart: %d lines in a set of %d ways", processor.name, name, ld, got, processor.ways)
				}
			}
			if ld%pageNumbers == 0 && blocks.readsWell(pagedStrips+1, ld, 1) {
				t.Errorf("%s: rows of B %d numbers apart are read in place by many strips", processor.name, ld)
			}
		}
	}
}

// Winograd's transforms write a vector to each position of a tile. The positions lie
// oddLines of some number apart, so that no two of them share a set: at most 64 positions,
// also where a position's numbers take a multiple of 4 KiB.
func TestWinogradPositionsDoNotCrowdTheFirstCache(t *testing.T) {
	for k := range winogradKinds {
		positions := winogradKinds[k].positions()
		for n := 512; n <= 1<<16; n += 512 {
			var at []int
			for p := range positions {
				at = append(at, p*oddLines(n))
			}
			if got := fullest(at); got > 1 {
				t.Errorf("%d positions of %d numbers: %d lines in a set", positions, n, got)
			}
		}
	}
}
