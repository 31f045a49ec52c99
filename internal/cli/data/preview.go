package data

import (
	"context"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"tercet/internal/cli/base"
	"tercet/internal/wire/inspect"
)

type previewOptions struct {
	base.ConfigFlags
	inspect.PreviewOptions
	out string
}

// maxTiles bounds a contact sheet: nobody looks at more.
const maxTiles = 2000

func newPreview(s *base.Streams) *cobra.Command {
	var o previewOptions
	return base.Command{
		Use:   "preview [FILE.yaml]",
		Short: "Draw a contact sheet of a config's images",
		Long: `
Draws images of some classes, spread evenly over all classes, into a PNG: one row per
class, with the class name below each image. Small images are enlarged by an integer
factor. --augment shows training images with the augmentation of the config.`,
		Examples: []base.Example{
			{Why: "the built-in characters", Line: "tercet data preview --set data.glyphs.classes=20 --out sheet.png"},
			{Why: "test images of a config", Line: "tercet data preview --config configs/demo.yaml --split test --classes 6 --per-class 4"},
			{Why: "the effect of augmentation", Line: "tercet data preview --set data.glyphs.classes=20 --set data.augment.crop_padding=4 --augment"},
		},
		Exits: []int{base.ExitData},
		Args:  o.OneConfig,
		Flags: func(cmd *cobra.Command) {
			o.AddFlags(cmd)
			o.AddSkipBroken(cmd)
			fs := cmd.Flags()
			fs.StringVarP(&o.out, "out", "o", "preview.png", "`FILE`.png to write")
			base.AddSplit(fs, &o.Set, "train", "which images: train, validation or test")
			fs.IntVar(&o.Classes, "classes", 12, "number of classes to show, one row each")
			fs.IntVar(&o.PerClass, "per-class", 8, "number of images per class")
			fs.BoolVar(&o.Augment, "augment", false, "show training images after augmentation")
		},
		Run: func(ctx context.Context, _ []string) error { return runDataPreview(ctx, s, o) },
	}.Build()
}

func runDataPreview(ctx context.Context, s *base.Streams, o previewOptions) error {
	switch {
	case o.Classes < 1 || o.PerClass < 1:
		return base.Usagef("--classes is %d, --per-class %d; both must be 1 or more", o.Classes, o.PerClass)
	case o.Classes > maxTiles/o.PerClass:
		return base.Usagef("--classes %d with --per-class %d is too much for one sheet; at most %d images", o.Classes, o.PerClass, maxTiles)
	case !strings.EqualFold(filepath.Ext(o.out), ".png"):
		return base.Usagef("--out is %q; the sheet is a PNG: give a name that ends in .png", o.out)
	case o.Set != "train" && o.Set != "validation" && o.Set != "test":
		return base.Usagef("--split is %q; give train, validation or test", o.Set)
	case o.Augment && o.Set != "train":
		return base.Usagef("--augment needs --split train: only training images are augmented")
	}
	cfg, err := loadData(s, &o.ConfigFlags)
	if err != nil {
		return err
	}
	doc, err := inspect.DrawPreview(ctx, cfg, o.out, o.PreviewOptions)
	if err != nil {
		return base.RunError(err)
	}
	return s.Line(doc, "%s", doc.Path)
}
