package data

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"tercet/internal/data/fault"
	"tercet/internal/imaging"
	"tercet/internal/imaging/shard"
	"tercet/internal/imaging/transform"
	"tercet/internal/par"
	"tercet/internal/record"
)

// packed are images of a shard in place of those of their files.
type packed struct {
	*files
	shard *shard.Shard
	keys  []shard.Key
}

func (p *packed) picture(i int, e *eye) (imaging.Image, error) {
	if err := p.shard.Read(p.keys[i], &e.whole); err != nil {
		return imaging.Image{}, badCause(err, "packed image of %s", p.ItemName(i))
	}
	return e.whole, nil
}

func (p *packed) identity(i int) string {
	return p.files.identity(i) + " packed " + p.shard.Params.String() + " " + p.shard.Decoder + " " + p.shard.Resize
}

// key is what file i has in a shard: another one after any change of the file.
func (f *files) key(i int) (k shard.Key, err error) {
	info, err := os.Stat(f.ItemName(i))
	if err != nil {
		return k, missing(err, "cannot read image")
	}
	return sha256.Sum256(fmt.Appendf(nil, "%s %d", f.identity(i), info.ModTime().UnixNano())), nil
}

func (f *files) keys(ctx context.Context) ([]shard.Key, error) {
	keys := make([]shard.Key, len(f.paths))
	err := eachFile(ctx, len(keys), 256, func(i int) (err error) {
		keys[i], err = f.key(i)
		return err
	})
	return keys, err
}

// pictures are the files, or the packed images of them. A shard that lacks any of them is
// of other images, or these have changed since.
func (o Options) pictures(ctx context.Context, f *files) (pictures, error) {
	if o.Packed == "" {
		return f, f.checkEnds(ctx)
	}
	s, err := openShard(o.Packed)
	if err != nil {
		return nil, err
	}
	keys, err := f.keys(ctx)
	if err != nil {
		return nil, err
	}
	lost, first := 0, 0
	for i, k := range keys {
		if !s.Has(k) {
			if lost++; lost == 1 {
				first = i
			}
		}
	}
	if lost > 0 {
		s.Close()
		return nil, bad("%s is not of these images: %d of %d are not in it or have changed since it was written, the first is %s; pack them again", o.Packed, lost, len(keys), f.ItemName(first))
	}
	return &packed{f, s, keys}, nil
}

// openShard opens a packed file. The error wraps ErrMissing or ErrFormat.
func openShard(path string) (*shard.Shard, error) {
	s, err := shard.Open(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, missing(err, "no packed file")
	case err != nil:
		return nil, fault.Of(ErrFormat, err, "cannot read packed images")
	}
	if s.Decoder != imaging.Version || s.Resize != imaging.ResizeVersion {
		s.Close()
		return nil, bad("%s was packed with decoder %q and resize %q, and this version has %q and %q; pack the images again", path, s.Decoder, s.Resize, imaging.Version, imaging.ResizeVersion)
	}
	return s, nil
}

// Pixels says how the images of o, which has steps, are made.
func Pixels(o Options) (*record.Pixels, error) {
	p := &record.Pixels{Decoder: imaging.Version, Resize: imaging.ResizeVersion, Train: o.Transform.Train.String(), Test: o.Transform.Test.String()}
	if o.Packed == "" {
		return p, nil
	}
	s, err := openShard(o.Packed)
	if err != nil {
		return nil, err
	}
	p.From = "packed " + s.Params.String() + ", SHA-256 " + s.SHA256
	return p, s.Close()
}

// packing are the steps that images have gone through in a shard.
func packing(p shard.Params) (transform.Pipeline, error) {
	size := fmt.Sprint(p.Size)
	if p.Fit == "squash" {
		size = fmt.Sprintf("(%[1]d, %[1]d)", p.Size)
	}
	return transform.Parse([]string{"Resize(" + size + ", " + p.Interpolation + ")"})
}

// PackedSteps are the steps that the images in a file of tercet data pack have gone through.
func PackedSteps(path string) (transform.Pipeline, error) {
	s, err := openShard(path)
	if err != nil {
		return nil, err
	}
	steps, err := packing(s.Params)
	return steps, errors.Join(err, s.Close())
}

// unpacked are the steps by which other images become what those of o are: where o reads a
// shard, its steps come first.
func (o Options) unpacked() (Steps, error) {
	if o.Packed == "" {
		return *o.Transform, nil
	}
	first, err := PackedSteps(o.Packed)
	return Steps{Test: slices.Concat(first, o.Transform.Test)}, err
}

// packBlock is how many images Pack holds at a time.
const packBlock = 64

// Pack decodes and resizes all images of the source of o, of every split, into a file.
// Steps that follow then find resized images instead of the originals.
func Pack(ctx context.Context, o Options, path string, p shard.Params, say func(done, total int)) (shard.Header, error) {
	steps, err := packing(p)
	if err != nil {
		return shard.Header{}, err
	}
	sources, total, err := o.filed(ctx)
	if err != nil {
		return shard.Header{}, err
	}
	p.Decoder, p.Resize = imaging.Version, imaging.ResizeVersion
	w, err := shard.Create(path, p)
	if err != nil {
		return shard.Header{}, err
	}
	done := 0
	for _, f := range sources {
		err := f.pack(ctx, w, steps, func(n int) { done += n; say(done, total) })
		if err != nil {
			w.Abort()
			return shard.Header{}, err
		}
	}
	return w.Close()
}

// filed are the files of the source, of training and of test, and how many.
func (o Options) filed(ctx context.Context) (out []*files, total int, err error) {
	one, err := transform.Parse([]string{"CenterCrop(1)"}) // any steps: nothing is read
	if err != nil {
		return nil, 0, err
	}
	o.Transform, o.Packed = &Steps{Test: one}, ""
	train, test, err := o.Source.Open(ctx, o)
	if err != nil {
		return nil, 0, err
	}
	for _, ds := range []Dataset{train, test} {
		if ds == nil || ds.Len() == 0 {
			continue
		}
		from, _ := origin(ds, 0)
		var f *files
		switch d := from.(type) {
		case *decoded:
			f, _ = d.from.(*files)
		case *decodedTable:
			f, _ = d.from.(*files)
		}
		if f == nil {
			return nil, 0, unfit("the images of data %s are not in files of their own: there is nothing to pack", nameOf(o.Source))
		}
		out, total = append(out, f), total+len(f.paths)
	}
	return out, total, nil
}

// pack appends all images, decoded on all threads, in their order.
func (f *files) pack(ctx context.Context, w *shard.Writer, steps transform.Pipeline, did func(n int)) error {
	keys, err := f.keys(ctx)
	if err != nil {
		return err
	}
	var spare par.Free[eye]
	images := make([]imaging.Image, packBlock)
	for lo := 0; lo < len(keys); lo += packBlock {
		if err := ctx.Err(); err != nil {
			return err
		}
		n := min(packBlock, len(keys)-lo)
		err := eachFile(ctx, n, 1, func(j int) error {
			e := spare.Get()
			defer spare.Put(e)
			img, err := f.picture(lo+j, e)
			if err == nil {
				steps.Apply(&e.canvas, img, nil).CopyTo(&images[j])
			}
			return err
		})
		if err != nil {
			return err
		}
		for j := range n {
			if err := w.Add(keys[lo+j], images[j]); err != nil {
				return err
			}
		}
		did(n)
	}
	return nil
}
