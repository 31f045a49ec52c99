package config

import (
	"tercet/internal/data"
	"tercet/internal/imaging/transform"
)

// Steps returns the steps of data.transform, nil where there are none. What is wrong with
// them is an error of Load.
func (d Data) Steps() *data.Steps {
	if !d.Transform.Given() {
		return nil
	}
	train, _ := transform.Parse(d.Transform.Train)
	test, _ := transform.Parse(d.Transform.Test)
	return &data.Steps{Train: train, Test: test}
}

// transformRules holds what the steps of images ask of each other and of the source.
func (c *Config) transformRules(fail func(key, format string, args ...any)) {
	d := c.Data
	if !d.Transform.Given() {
		if d.Transform.Packed != "" {
			fail("data.transform.packed", "holds resized images, and there are no steps that make one size of them: set data.transform.test, such as [CenterCrop(224)]")
		}
		return
	}
	if traits := d.Options.Traits(); traits.Drawn || traits.Vectors {
		fail("data.transform.test", "changes images that are read, and data %s has none: remove data.transform", d.Name)
		return
	}
	if len(d.Transform.Test) == 0 {
		fail("data.transform.test", "must be set with data.transform.train, such as [Resize(256), CenterCrop(224)]: images that are evaluated need steps too")
		return
	}
	for _, part := range []struct {
		key   string
		texts []string
	}{{"data.transform.train", d.Transform.Train}, {"data.transform.test", d.Transform.Test}} {
		p, err := transform.Parse(part.texts)
		if err == nil && len(p) > 0 {
			_, _, err = p.Shape()
		}
		if err != nil {
			fail(part.key, "%v", err)
			return
		}
		if part.key == "data.transform.test" && p.Random() {
			fail(part.key, "has a random step: only training images are changed at random")
			return
		}
	}
	if _, _, err := d.Steps().Shape(); err != nil {
		fail("data.transform.train", "%v", err)
	}
}
