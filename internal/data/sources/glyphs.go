package sources

import (
	"context"
	"errors"

	"tercet/internal/component"
	"tercet/internal/data"
	"tercet/internal/data/glyphs"
)

func init() {
	data.Family.Register(component.Component[data.Source]{
		Name: "glyphs", Doc: "characters of fonts, drawn with seeded distortion; needs no files",
		Defaults: GlyphsOptions{Glyphs{Classes: 200, PerClass: 20, TestClasses: 100, Difficulty: 0.5}},
	})
}

// GlyphsOptions are the built-in dataset: characters of fonts, each a class, drawn with
// seeded distortion. Its own split is class-disjoint.
type GlyphsOptions struct {
	Glyphs Glyphs `yaml:"glyphs" doc:"how characters are chosen and drawn"`
}

// Glyphs chooses and draws characters. A knob that is not set follows the difficulty.
type Glyphs struct {
	Classes     int      `yaml:"classes" check:">=2,<=1000000" doc:"characters to train on"`
	PerClass    int      `yaml:"per_class" check:">=2,<=1000000" doc:"images of each character"`
	TestClasses int      `yaml:"test_classes" check:">=2,<=1000000" doc:"number of test characters, which are not in the training set"`
	Difficulty  float64  `yaml:"difficulty" check:">=0,<=1" doc:"0 draws plain characters, 1 hardly legible ones"`
	Seed        uint64   `yaml:"seed" doc:"seed of the drawing, independent of the run's seed"`
	Affine      *float64 `yaml:"affine" check:">=0,<=1" doc:"rotation, shear, scale and shift; null follows difficulty"`
	Elastic     *float64 `yaml:"elastic" check:">=0,<=1" doc:"elastic distortion; null follows difficulty"`
	Stroke      *float64 `yaml:"stroke" check:">=0,<=1" doc:"change of stroke weight; null follows difficulty"`
	Blur        *float64 `yaml:"blur" check:">=0,<=1" doc:"blur; null follows difficulty"`
	Clutter     *float64 `yaml:"clutter" check:">=0,<=1" doc:"foreign strokes; null follows difficulty"`
	Noise       *float64 `yaml:"noise" check:">=0,<=1" doc:"pixel noise; null follows difficulty"`
}

// Traits implements data.Source.
func (GlyphsOptions) Traits() data.Traits {
	return data.Traits{
		About: "characters of the Go and Liberation fonts, drawn with seeded distortion; test characters are unseen ones",
		Needs: "no files",
		Drawn: true,
	}
}

// Open implements data.Source.
func (s GlyphsOptions) Open(_ context.Context, o data.Options) (data.Dataset, data.Dataset, error) {
	if o.Crop != 0 {
		return nil, nil, errors.New("crop: characters are drawn at data.size; there is nothing to crop")
	}
	p, err := s.Glyphs.options(o)
	if err != nil {
		return nil, nil, err
	}
	train, test, err := glyphs.Open(p)
	if err != nil {
		return nil, nil, err
	}
	if test == nil { // not a nil pointer in an interface
		return train, nil, nil
	}
	return train, test, nil
}

func (g Glyphs) options(o data.Options) (glyphs.Options, error) {
	l := glyphs.EachAt(g.Difficulty)
	for _, k := range []struct {
		set *float64
		to  *float64
	}{{g.Affine, &l.Affine}, {g.Elastic, &l.Elastic}, {g.Stroke, &l.Stroke}, {g.Blur, &l.Blur}, {g.Clutter, &l.Clutter}, {g.Noise, &l.Noise}} {
		if k.set != nil {
			*k.to = *k.set
		}
	}
	knobs, err := l.Knobs()
	if err != nil {
		return glyphs.Options{}, err
	}
	return glyphs.Options{
		TrainClasses: g.Classes, TestClasses: g.TestClasses, TrainPerClass: g.PerClass, TestPerClass: g.PerClass,
		Size: o.Size, Color: o.Color == "rgb", Difficulty: "custom", Knobs: &knobs, Seed: g.Seed,
	}, nil
}

var _ data.Starting = GlyphsOptions{} // which nothing else checks

// Start implements data.Starting.
func (GlyphsOptions) Start(context.Context, string) (*data.Start, error) {
	return &data.Start{
		Lines: []string{"size: 32", "glyphs: {classes: 60, per_class: 20, test_classes: 30}"},
		Split: "file", About: "test characters are unseen ones",
	}, nil
}
