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
	wide := tileShape{rows: 14, wide: 32, narrow: 16}
	for _, processor := range []struct {
		name            string
		s               tileShape
		second, ways    int
		step            int // of the distances below, in numbers
		transposedLines int // that one step of k reads of a transposed A
	}{
		{"Zen 3", tileShape{rows: 6, wide: 16, narrow: 8}, 512 << 10, 8, 1024, 1},
		{"Zen 4", wide, 1 << 20, 8, 1024, 1}, {"Sapphire Rapids", wide, 2 << 20, 12, 128, 2},
	} {
		s := processor.s
		blocks = blockingFor(processor.second)
		for ld := max(k, processor.step); ld <= 4096; ld += processor.step {
			var w gemmScratch
			data := make([]float32, k*ld)
			var rows, steps []int
			a := w.blockA(Current(), s, view{data, ld, 1}, m, k, columns)
			for i := range s.rows {
				rows = append(rows, i*a.rs)
			}
			a = w.blockA(Current(), s, view{data, 1, ld}, m, k, columns)
			if a.cs == 1 { // turned
				for i := range s.rows {
					steps = append(steps, i*a.rs)
				}
			}
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
			if ld%pageNumbers == 0 && blocks.readsWell(s, pagedStrips+1, k, 1, ld) {
				t.Errorf("%s: rows of B %d numbers apart are read in place by many strips", processor.name, ld)
			}
		}
	}
}

// A narrow panel of B that many strips of A read in place stays in the first cache, or is
// larger than that.
func TestPanelsInPlaceDoNotCrowdTheFirstCache(t *testing.T) {
	s, in, out := tileShape{rows: 6, wide: 16, narrow: 8}, 0, 0
	for _, k := range []int{30, 64, 100, 128, 256, 300, 384} {
		for rs := 16; rs <= 4096; rs += 8 {
			if !tinyCache.readsWell(s, narrowStrips+1, k, rs, rs) {
				out++
				continue
			}
			in++
			var rows []int
			for p := range k {
				rows = append(rows, p*rs/16*16)
			}
			if got := fullest(rows); got > firstWays {
				t.Errorf("%d rows of B, %d numbers apart: %d lines in a set of %d ways", k, rs, got, firstWays)
			}
		}
	}
	if in < 100 || out < 100 {
		t.Errorf("%d panels read in place, %d not", in, out)
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
