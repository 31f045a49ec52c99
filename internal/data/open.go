package data

import (
	"context"
	"errors"
	"fmt"
)

// Options say which dataset to open and how.
type Options struct {
	Name   string // of the source; "" takes the one under which it is registered
	Source Source

	// How images are brought to one shape: see ImageOptions.
	Size, Crop         int
	Fit, Filter, Color string
	// Transform, where it is set, replaces Size, Crop, Fit and Filter: images are read
	// when they are needed.
	Transform *Steps
	Packed    string // with Transform: a file of Pack, read instead of the images' own

	Broken            *Broken // where it is set, files that cannot be decoded are left out and listed in it
	Split             Split
	SkipPerClass      int    // training items of a class that are left out first, by the same Seed
	LimitPerClass     int    // training items of a class, chosen by Seed; 0: all
	TestLimitPerClass int    // test items of a class; 0: all
	Seed              uint64 // of the limits
}

func (o Options) image() ImageOptions {
	return ImageOptions{Size: o.Size, Fit: o.Fit, Filter: o.Filter, Crop: o.Crop, Color: o.Color}
}

// Open opens a dataset: it reads the source, splits it and applies the limits. test is
// nil where there is none (split "none", or "" on a source without a test set). The error is
// that of ctx if it ended, between two blocks of files. Errors
// about files wrap ErrMissing or ErrFormat, those about sound data that do not allow
// the split ErrUnfit.
func Open(ctx context.Context, o Options) (train, test Dataset, err error) {
	if o.Source == nil {
		return nil, nil, errors.New("no source of data is given")
	}
	if o.Name == "" {
		o.Name = nameOf(o.Source)
	}
	if o.Broken != nil {
		*o.Broken = Broken{}
	}
	if train, test, err = o.Source.Open(ctx, o); err != nil {
		return nil, nil, err
	}
	if o.Broken != nil && !o.Broken.looked {
		return nil, nil, fmt.Errorf("data %s has no image files that could be broken: leave out data.skip_broken", o.Name)
	}
	if o.Transform != nil {
		if train, err = o.transformed(train); err == nil {
			test, err = o.transformed(test)
		}
		if err != nil {
			return nil, nil, fmt.Errorf("data %s: %w", o.Name, err)
		}
	}
	if train, test, err = o.Split.Divide(train, test); err != nil {
		return nil, nil, fmt.Errorf("data %s: %w", o.Name, err)
	}
	if train, err = takePerClass(train, o.SkipPerClass, o.LimitPerClass, o.Seed); err != nil {
		return nil, nil, fmt.Errorf("data %s: %w", o.Name, err)
	}
	if test != nil {
		test = LimitPerClass(test, o.TestLimitPerClass, o.Seed)
	}
	return train, test, nil
}

// LeftOut says which files of the source were skipped; "" for none.
func LeftOut(o Options) string {
	if p, ok := o.Source.(Passing); ok {
		return p.LeftOut(o)
	}
	return ""
}

// Rooted opens a folder of images of one shape, and brings them to that of o.
func (o Options) Rooted(ctx context.Context, root string, open func(root string) (train, test *Memory, err error)) (Dataset, Dataset, error) {
	if err := o.checkRoot(root); err != nil {
		return nil, nil, err
	}
	return o.Images(ctx, func() (*Memory, *Memory, error) { return open(root) })
}

func (o Options) checkRoot(root string) error {
	if root == "" {
		return fmt.Errorf("data %s needs a folder: set data.root", o.Name)
	}
	return nil
}

// Images brings what open reads to the shape of o.
func (o Options) Images(ctx context.Context, open func() (train, test *Memory, err error)) (Dataset, Dataset, error) {
	if err := o.image().check(); err != nil {
		return nil, nil, err
	}
	a, b, err := open()
	if err != nil {
		return nil, nil, err
	}
	if a, err = Convert(ctx, a, o.image()); err != nil {
		return nil, nil, err
	}
	if b == nil {
		return a, nil, nil
	}
	if b, err = Convert(ctx, b, o.image()); err != nil {
		return nil, nil, err
	}
	return a, b, nil
}

// CheckFiles returns an error unless files of data and of labels come in twos.
func (o Options) CheckFiles(data, labels, testData, testLabels string) error {
	if data == "" || labels == "" {
		return fmt.Errorf("data %s needs a file of data and a file of labels; got %q and %q", o.Name, data, labels)
	}
	if (testData == "") != (testLabels == "") {
		return fmt.Errorf("data %s needs both test files or none; got %q and %q", o.Name, testData, testLabels)
	}
	return nil
}
