package glyphs

import (
	"fmt"
	"strings"
)

// Options describes a dataset. The zero value of each field but Seed means its
// default.
type Options struct {
	TrainClasses                int  // default 200
	TestClasses                 int  // unseen characters, disjoint from those of training; default 100; -1: none
	TrainPerClass, TestPerClass int  // images of each class; default 20
	Size                        int  // side of an image in pixels, 8 to 256; default 32
	Color                       bool // three channels with random ink and paper instead of one

	// Difficulty names a preset: easy, medium (the default), hard, or custom,
	// for which Knobs must be set (start from Preset).
	Difficulty string
	Knobs      *Knobs

	Seed uint64 // of the choice of classes and of every image
}

// maxBytes bounds the images of a split, so that a slip of the pen in a config
// is an error and not an exhausted machine.
const maxBytes = 1 << 30

// withDefaults returns o complete and checked.
func (o Options) withDefaults() (Options, error) {
	set := func(v *int, d int) {
		if *v == 0 {
			*v = d
		}
	}
	set(&o.TrainClasses, 200)
	set(&o.TestClasses, 100)
	set(&o.TrainPerClass, 20)
	set(&o.TestPerClass, 20)
	set(&o.Size, 32)
	if o.TestClasses == -1 {
		o.TestClasses = 0
	}
	if o.Difficulty == "" {
		o.Difficulty = "medium"
		if o.Knobs != nil {
			o.Difficulty = "custom"
		}
	}
	switch {
	case o.Size < 8 || o.Size > 256:
		return o, fmt.Errorf("glyphs: image size %d; it must be 8 to 256 pixels", o.Size)
	case o.TrainClasses < 1:
		return o, fmt.Errorf("glyphs: %d training classes; at least 1 is needed", o.TrainClasses)
	case o.TestClasses < 0:
		return o, fmt.Errorf("glyphs: %d test classes; give 1 or more, or -1 for no test set", o.TestClasses)
	case o.TrainClasses > len(repertoire) || o.TestClasses > len(repertoire)-o.TrainClasses:
		return o, fmt.Errorf("glyphs: %d training and %d test classes; there are %d characters in all, and the two sets share none",
			o.TrainClasses, o.TestClasses, len(repertoire))
	case o.TrainPerClass < 1 || o.TestPerClass < 1:
		return o, fmt.Errorf("glyphs: %d images per training class and %d per test class; at least 1 is needed", o.TrainPerClass, o.TestPerClass)
	}
	for _, s := range []struct{ classes, per int }{{o.TrainClasses, o.TrainPerClass}, {o.TestClasses, o.TestPerClass}} {
		if image := o.Size * o.Size * o.channels(); s.per > maxBytes/(image*max(s.classes, 1)) {
			return o, fmt.Errorf("glyphs: %d classes of %d images of %d bytes exceed %d GiB; lower the number per class or the size",
				s.classes, s.per, image, maxBytes>>30)
		}
	}
	if o.Difficulty == "custom" {
		if o.Knobs == nil {
			return o, fmt.Errorf("glyphs: difficulty custom needs the knobs; start from those of %s", strings.Join(difficulties(), ", "))
		}
		k := *o.Knobs
		o.Knobs = &k
		return o, k.check()
	}
	k, err := Preset(o.Difficulty)
	if err != nil {
		return o, err
	}
	if o.Knobs != nil {
		return o, fmt.Errorf("glyphs: keys of difficulty custom are set with difficulty %s; set difficulty custom to use them", o.Difficulty)
	}
	o.Knobs = &k
	return o, nil
}

func (o Options) channels() int {
	if o.Color {
		return 3
	}
	return 1
}
