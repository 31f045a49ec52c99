package cli

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"tercet/internal/run"
)

type dataPreviewOptions struct {
	configFlags
	run.PreviewOptions
	out string
}

// maxTiles bounds a contact sheet: nobody looks at more.
const maxTiles = 2000

func newDataPreview(s *Streams) *cobra.Command {
	var o dataPreviewOptions
	return command{
		use:   "preview [FILE.yaml]",
		short: "Draw a contact sheet of a config's images",
		long: `
Draws images of some classes, evenly spread over all, into a PNG: a row for each
class, its images beside each other, the class below each. Small images are
enlarged by a whole factor. --augment shows training images as the augmentation
of the config changes them.`,
		examples: []example{
			{why: "the built-in characters", line: "tercet data preview --set data.glyphs.classes=20 --out sheet.png"},
			{why: "test images of a config", line: "tercet data preview --config configs/demo.yaml --split test --classes 6 --per-class 4"},
			{why: "what augmentation does", line: "tercet data preview --set data.glyphs.classes=20 --set data.augment.crop_padding=4 --augment"},
		},
		exits: []int{ExitData},
		args:  o.oneConfig,
		flags: func(cmd *cobra.Command) {
			o.addFlags(cmd)
			fs := cmd.Flags()
			fs.StringVarP(&o.out, "out", "o", "preview.png", "`FILE`.png to write")
			addSplit(fs, &o.Set, "train", "which images: train, validation or test")
			fs.IntVar(&o.Classes, "classes", 12, "classes to show, a row for each")
			fs.IntVar(&o.PerClass, "per-class", 8, "images of a class")
			fs.BoolVar(&o.Augment, "augment", false, "show training images as augmentation changes them")
		},
		run: func(_ context.Context, _ []string) error { return runDataPreview(s, o) },
	}.build()
}

func runDataPreview(s *Streams, o dataPreviewOptions) error {
	switch {
	case o.Classes < 1 || o.PerClass < 1:
		return usagef("--classes is %d, --per-class %d; both must be 1 or more", o.Classes, o.PerClass)
	case o.Classes > maxTiles/o.PerClass:
		return usagef("--classes %d with --per-class %d is too much for one sheet; at most %d images", o.Classes, o.PerClass, maxTiles)
	case !strings.EqualFold(filepath.Ext(o.out), ".png"):
		return usagef("--out is %q; the sheet is a PNG: give a name that ends in .png", o.out)
	case o.Set != "train" && o.Set != "validation" && o.Set != "test":
		return usagef("--split is %q; give train, validation or test", o.Set)
	case o.Augment && o.Set != "train":
		return usagef("--augment goes with --split train: only training images are augmented")
	}
	cfg, err := loadData(s, &o.configFlags)
	if err != nil {
		return err
	}
	doc, err := run.DrawPreview(cfg, o.out, o.PreviewOptions)
	if err != nil {
		return err
	}
	return s.Result(doc, func(w io.Writer) error {
		_, err := fmt.Fprintln(w, doc.Path)
		return err
	})
}
