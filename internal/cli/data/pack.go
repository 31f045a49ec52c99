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
Decodes all images of the config's source, of training and of test, resizes them and
writes them to one file. data.transform.packed: FILE reads it in place of the images, with
the same pixels as a Resize of the same size as first step. It spares decoding:
each image is read at its place in the file, which is never held in memory.

RandomResizedCrop on packed images is not RandomResizedCrop on the originals: the manifest
of a run says what its images were packed with. A file that lacks an image of the data, or
whose images have changed since, is refused.`,
		Examples: []base.Example{
			{Why: "the shorter side to 256 pixels", Line: "tercet data pack birds.yaml --out birds.tshard"},
			{Why: "both sides, aspect not kept", Line: "tercet data pack birds.yaml --fit squash --size 256 --out birds.tshard"},
		},
		Exits: []int{base.ExitData, base.ExitInterrupted},
		Args:  o.OneConfig,
		Flags: func(cmd *cobra.Command) {
			o.AddFlags(cmd)
			o.AddSkipBroken(cmd)
			fs := cmd.Flags()
			fs.StringVarP(&o.out, "out", "o", "", "`FILE`.tshard to write")
			fs.IntVar(&o.Size, "size", 256, "side in pixels")
			base.Words(fs, &o.Fit, "fit", "short", []string{"short", "squash"}, "short: the shorter side gets that length; squash: both do")
			base.Words(fs, &o.Interpolation, "interpolation", "bilinear", []string{"bilinear", "bicubic"}, "bilinear or bicubic, as Pillow")
			fs.BoolVar(&o.force, "force", false, "replace the file if it is there")
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
		return base.Usagef("%s is there already; --force replaces it", o.out)
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
