package sources

import (
	"runtime"
	"testing"
	"weak"

	"tercet/internal/data/glyphs"
)

// Each option of a drawing counts: sets of other options are other sets, those of the same
// are drawn once, and none is kept from the collector.
func TestDrawnSetsAreThoseOfTheirOptions(t *testing.T) {
	t.Parallel()
	d := drawnSets{sets: map[drawnFrom][2]weak.Pointer[glyphs.Set]{}}
	made := func(change func(*glyphs.Options)) glyphs.Options {
		o := glyphs.Options{TrainClasses: 3, TestClasses: 2, TrainPerClass: 2, TestPerClass: 2, Size: 16, Difficulty: "custom", Knobs: &glyphs.Knobs{ScaleMin: 0.5, ScaleMax: 0.8, Contrast: 0.5}, Seed: 7}
		change(&o)
		return o
	}
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
		train, test, err := d.open(made(change))
		if err != nil {
			t.Fatal(err)
		}
		want, held, err := glyphs.Open(made(change))
		if err != nil || train.Fingerprint() != want.Fingerprint() || test.Fingerprint() != held.Fingerprint() {
			t.Errorf("%s: not the sets of these options (%v)", name, err)
		}
		if was := seen[train.Fingerprint()]; was != "" {
			t.Errorf("%s and %s give one set", name, was)
		}
		seen[train.Fingerprint()] = name
		if again, other, err := d.open(made(change)); err != nil || again != train || other != test {
			t.Errorf("%s: drawn twice (%v)", name, err)
		}
		runtime.KeepAlive(train)
		runtime.KeepAlive(test)
	}
	runtime.GC()
	for from, p := range d.sets {
		if p[0].Value() != nil || p[1].Value() != nil {
			t.Errorf("the sets of %+v are kept", from)
		}
	}
	alone := func(o *glyphs.Options) { o.TestClasses = -1 }
	train, test, err := d.open(made(alone))
	again, _, err2 := d.open(made(alone))
	if err != nil || err2 != nil || test != nil || again != train || len(d.sets) != 1 {
		t.Errorf("without a test set: %v %v, %d sets are listed (%v, %v)", test, again == train, len(d.sets), err, err2)
	}
}
