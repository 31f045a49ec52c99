package data

import (
	"context"
	"os"
	"time"

	"github.com/spf13/cobra"

	"tercet/internal/cli/base"
	"tercet/internal/data"
	"tercet/internal/imaging/shard"
	"tercet/internal/record"
	"tercet/internal/record/printed"
	"tercet/internal/text"
	"tercet/internal/wire"
)

type packOptions struct {
	base.ConfigFlags
	shard.Params
	out   string
	force bool
}

func newPack(s *base.Streams) *cobra.Command {
	var o packOptions
	return base.Command{
		Use:   "pack [FILE.yaml]",
		Short: "Decode and resize all images of a config into one file",
		Long: `
Decodes and resizes all training and test images of the config's dataset and writes them
to one file. With data.transform.packed: FILE runs read that file instead of the images.
The pixels equal those of a Resize to the same size as first transform. Training is
faster, because nothing is decoded. The file is not loaded into memory as a whole.

RandomResizedCrop on packed images differs from RandomResizedCrop on the originals; the
manifest of a run records how its images were packed. It is an error if the file lacks an
image of the dataset, or if images have changed since they were packed.`,
		Examples: []base.Example{
			{Why: "resize the shorter side to 256 pixels", Line: "tercet data pack birds.yaml --out birds.tshard"},
			{Why: "resize both sides, without keeping the aspect ratio", Line: "tercet data pack birds.yaml --fit squash --size 256 --out birds.tshard"},
		},
		Exits: []int{base.ExitData, base.ExitInterrupted},
		Args:  o.OneConfig,
		Flags: func(cmd *cobra.Command) {
			o.AddFlags(cmd)
			o.AddSkipBroken(cmd)
			fs := cmd.Flags()
			fs.StringVarP(&o.out, "out", "o", "", "`FILE`.tshard to write")
			fs.IntVar(&o.Size, "size", 256, "length of the side in pixels")
			base.Words(fs, &o.Fit, "fit", "short", []string{"short", "squash"}, "short: resize the shorter side to --size; squash: resize both sides")
			base.Words(fs, &o.Interpolation, "interpolation", "bilinear", []string{"bilinear", "bicubic"}, "interpolation, as in Pillow: bilinear or bicubic")
			fs.BoolVar(&o.force, "force", false, "replace an existing file")
		},
		Run: func(ctx context.Context, _ []string) error { return runPack(ctx, s, o) },
	}.Build()
}

func (o packOptions) check() error {
	switch {
	case o.out == "":
		return base.Usagef("--out FILE says where the packed images go")
	case o.Size < 1 || o.Size > 4096:
		return base.Usagef("--size is %d; give 1 to 4096", o.Size)
	}
	if _, err := os.Stat(o.out); err == nil && !o.force {
		return base.Usagef("%s already exists; --force replaces it", o.out)
	}
	return base.Writable(o.out)
}

func runPack(ctx context.Context, s *base.Streams, o packOptions) error {
	if err := o.check(); err != nil {
		return err
	}
	cfg, err := loadData(s, &o.ConfigFlags)
	if err != nil {
		return err
	}
	var bar *base.Progress
	done, start, opts := 0, time.Now(), wire.DataOptions(cfg)
	head, err := data.Pack(ctx, opts, o.out, o.Params, func(n, total int) {
		if bar == nil {
			bar = s.Progress("pack", int64(total))
		}
		bar.Add(int64(n - done))
		done = n
	})
	if bar != nil {
		bar.Done()
	}
	if err != nil {
		return err
	}
	info, err := os.Stat(o.out)
	if err != nil {
		return err
	}
	doc := &printed.PackedImages{
		Schema: record.PackSchema, Path: o.out, Images: head.Images, Bytes: info.Size(), Pixels: "packed " + head.Params.String(),
		Decoder: head.Decoder, Resize: head.Resize, SHA256: head.SHA256, Seconds: time.Since(start).Seconds(),
	}
	if left := opts.Broken.String(); left != "" {
		s.Note("warning: %s", left)
		doc.Broken = opts.Broken.Images
	}
	return s.Line(doc, "%s: %s, %s, %.1f MB, SHA-256 %s\nset data.transform.packed: %s to read it", o.out, text.Plural(doc.Images, "image", "images"), head.Params, float64(doc.Bytes)/1e6, head.SHA256, o.out)
}
