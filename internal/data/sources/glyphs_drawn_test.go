package sources

import (
	"testing"

	"tercet/internal/data/glyphs"
)

// Each option of a drawing counts: sets of other options are drawn anew, those of the same
// are the same, and what is kept is bounded.
func TestDrawnSetsAreThoseOfTheirOptions(t *testing.T) {
	t.Parallel()
	base := func() glyphs.Options {
		k := plain
		return glyphs.Options{TrainClasses: 3, TestClasses: 2, TrainPerClass: 2, TestPerClass: 2, Size: 16, Difficulty: "custom", Knobs: &k, Seed: 7}
	}
	d := drawnSets{bound: 1 << 20}
	seen := map[string]string{}
	for name, change := range map[string]func(*glyphs.Options){
		"none":    func(*glyphs.Options) {},
		"seed":    func(o *glyphs.Options) { o.Seed++ },
		"size":    func(o *glyphs.Options) { o.Size = 17 },
		"color":   func(o *glyphs.Options) { o.Color = true },
		"classes": func(o *glyphs.Options) { o.TrainClasses = 4 },
		"images":  func(o *glyphs.Options) { o.TrainPerClass = 3 },
		"knobs":   func(o *glyphs.Options) { o.Knobs.Rotate = 20 },
	} {
		o := base()
		change(&o)
		got, _, err := d.open(o)
		if err != nil {
			t.Fatal(err)
		}
		want, _, err := glyphs.Open(o)
		if err != nil || got.Fingerprint() != want.Fingerprint() {
			t.Errorf("%s: not the set of these options (%v)", name, err)
		}
		if was := seen[got.Fingerprint()]; was != "" {
			t.Errorf("%s and %s give one set", name, was)
		}
		seen[got.Fingerprint()] = name
		again := base()
		change(&again)
		if second, _, err := d.open(again); err != nil || second != got {
			t.Errorf("%s: drawn twice (%v)", name, err)
		}
	}
}

// The oldest sets go where all together are above the bound, the latest too where it alone is.
func TestDrawnSetsAreBounded(t *testing.T) {
	t.Parallel()
	d := drawnSets{bound: 2 * 2 * 8 * 8} // two sets of two images
	for seed, want := range []int{1, 2, 2} {
		if _, _, err := d.open(glyphs.Options{TrainClasses: 2, TestClasses: -1, TrainPerClass: 1, Size: 8, Difficulty: "custom", Knobs: &plain, Seed: uint64(seed)}); err != nil || len(d.list) != want || d.list[want-1].from.Seed != uint64(seed) {
			t.Errorf("%d sets are kept after seed %d (%v)", len(d.list), seed, err)
		}
	}
	if _, _, err := d.open(glyphs.Options{TrainClasses: 9, TestClasses: -1, TrainPerClass: 1, Size: 8, Difficulty: "custom", Knobs: &plain}); err != nil || len(d.list) != 0 {
		t.Errorf("a set of more than the bound is kept (%v)", err)
	}
}

var plain = glyphs.Knobs{ScaleMin: 0.5, ScaleMax: 0.8, Contrast: 0.5}
