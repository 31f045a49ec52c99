package glyphs

import "testing"

// Equal options give the sets that were drawn before, any other option draws again, and
// what is kept stays within its bytes.
func TestSetsAreKept(t *testing.T) {
	knobs, err := Preset("easy")
	if err != nil {
		t.Fatal(err)
	}
	o := Options{TrainClasses: 3, TestClasses: 2, TrainPerClass: 2, TestPerClass: 2, Size: 16, Difficulty: "custom", Knobs: &knobs}
	open := func(o Options) *Set {
		t.Helper()
		train, test, err := Open(o)
		if err != nil || test == nil && o.TestClasses > 0 {
			t.Fatal(err)
		}
		return train
	}
	first := open(o)
	again, other := knobs, knobs
	other.Rotate++
	o.Knobs = &again
	if open(o) != first {
		t.Error("equal options were drawn twice")
	}
	for name, change := range map[string]func(*Options){
		"classes": func(o *Options) { o.TrainClasses++ }, "test classes": func(o *Options) { o.TestClasses = -1 },
		"images": func(o *Options) { o.TrainPerClass++ }, "test images": func(o *Options) { o.TestPerClass++ },
		"size": func(o *Options) { o.Size++ }, "color": func(o *Options) { o.Color = true },
		"knobs": func(o *Options) { o.Knobs = &other }, "seed": func(o *Options) { o.Seed++ },
	} {
		changed := o
		change(&changed)
		if open(changed) == first {
			t.Errorf("other %s give the sets of before", name)
		}
	}
	if open(o) != first {
		t.Error("the sets are not kept while others are drawn")
	}
	few := kept{bytes: 2 * (2*3 + 2*2) * 16 * 16} // two of these sets
	keeps := func(o Options) *Set {
		t.Helper()
		train, _, err := few.open(o)
		if err != nil {
			t.Fatal(err)
		}
		return train
	}
	second, third, large := o, o, o
	second.Seed, third.Seed, large.TrainPerClass = 1, 2, 10
	a, b := keeps(o), keeps(second)
	if keeps(o) != a || keeps(second) != b {
		t.Error("two sets that fit are drawn again")
	}
	keeps(third)
	if keeps(second) != b || keeps(o) == a {
		t.Error("the third set does not take the place of the oldest")
	}
	if l := keeps(large); keeps(large) == l || len(few.sets) > 0 {
		t.Errorf("sets beyond the bound are kept: %d", len(few.sets))
	}
}
