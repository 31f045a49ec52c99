package annotated

import (
	"bytes"
	"context"
	"crypto/sha256"
	"image"
	"image/color"
	"slices"

	"tercet/internal/data/fault"
	"tercet/internal/data/table"
	"tercet/internal/fsx"
	"tercet/internal/imaging"
	"tercet/internal/par"
)

const (
	maxImage    = 256 << 20 // bytes of an image file
	surveyBlock = 512       // images between two reports
)

// File is what an image file is.
type File struct {
	Mode        string // RGB, gray, CMYK, palette, RGB with alpha, or these of 16 bits
	H, W        int
	Bytes       int
	Orientation int // of its EXIF data, 1 where there are none; it is never applied
	Err         error
	sum         [sha256.Size]byte
}

// Survey decodes all images of a table. The error is that of ctx; images that cannot be
// read have one of their own. done is told how many are read.
func Survey(ctx context.Context, t *table.Table, done func(n int)) ([]File, error) {
	out := make([]File, len(t.Items))
	var spare par.Free[eye]
	for lo := 0; lo < len(out); lo += surveyBlock {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		done(lo)
		par.For(min(surveyBlock, len(out)-lo), 4, func(a, b int) {
			e := spare.Get()
			defer spare.Put(e)
			for i := lo + a; i < lo+b; i++ {
				out[i] = e.look(t.File(i))
			}
		})
	}
	done(len(out))
	return out, nil
}

// eye is what one worker needs to decode.
type eye struct {
	decoder imaging.Decoder
	image   imaging.Image
}

func (e *eye) look(path string) (f File) {
	b, err := fsx.ReadFile(path, maxImage)
	if err != nil {
		f.Err = fault.Missing(err, "cannot read image")
		return f
	}
	f.Bytes, f.Orientation, f.sum = len(b), orientation(b), sha256.Sum256(b)
	if conf, _, err := image.DecodeConfig(bytes.NewReader(b)); err == nil {
		f.Mode, f.H, f.W = mode(conf.ColorModel), conf.Height, conf.Width
	}
	if err := e.decoder.Decode(&e.image, b); err != nil {
		f.Err = fault.Of(fault.ErrFormat, err, "%s: unreadable image", path)
	}
	return f
}

func mode(m color.Model) string {
	switch m {
	case color.YCbCrModel, color.RGBAModel:
		return "RGB"
	case color.GrayModel:
		return "gray"
	case color.CMYKModel:
		return "CMYK"
	case color.NRGBAModel, color.NYCbCrAModel:
		return "RGB with alpha"
	case color.Gray16Model:
		return "gray of 16 bits"
	case color.RGBA64Model, color.NRGBA64Model:
		return "RGB of 16 bits"
	}
	return "palette"
}

// Copies returns the images whose files equal an earlier one byte by byte, and how many of
// them are of another class or of training where that one is of test, or the other way.
func Copies(t *table.Table, files []File) (same []int, elsewhere int) {
	first := map[[sha256.Size]byte]int{}
	for i := range files {
		if files[i].Bytes == 0 {
			continue
		}
		j, seen := first[files[i].sum]
		if !seen {
			first[files[i].sum] = i
			continue
		}
		if t.Items[i].Path == t.Items[j].Path {
			continue // two boxes of one image
		}
		same = append(same, i)
		if a, b := &t.Items[i], &t.Items[j]; a.Label != b.Label || a.Is(table.Train) != b.Is(table.Train) {
			elsewhere++
		}
	}
	return same, elsewhere
}

// orientation is the EXIF orientation of a JPEG file, 1 to 8; 1 where it has none.
func orientation(b []byte) int {
	for at := 2; at+4 <= len(b) && b[0] == 0xff && b[1] == 0xd8 && b[at] == 0xff; {
		kind, size := b[at+1], int(b[at+2])<<8|int(b[at+3])
		if kind == 0xda || size < 2 || at+2+size > len(b) {
			return 1
		}
		if body := b[at+4 : at+2+size]; kind == 0xe1 && bytes.HasPrefix(body, []byte("Exif\x00\x00")) {
			return tiffOrientation(body[6:])
		}
		at += 2 + size
	}
	return 1
}

// tiffOrientation finds tag 0x0112 in the first directory of a TIFF header.
func tiffOrientation(b []byte) int {
	if len(b) < 8 || !slices.Contains([]string{"II", "MM"}, string(b[:2])) {
		return 1
	}
	number := func(at, n int) int {
		v := 0
		for k := range n {
			if b[0] == 'I' {
				v |= int(b[at+k]) << (8 * k)
			} else {
				v = v<<8 | int(b[at+k])
			}
		}
		return v
	}
	at := number(4, 4)
	if at > len(b)-2 {
		return 1
	}
	for k := range number(at, 2) {
		entry := at + 2 + 12*k
		if entry+12 > len(b) {
			return 1
		}
		if v := number(entry+8, 2); number(entry, 2) == 0x0112 && v >= 1 && v <= 8 {
			return v
		}
	}
	return 1
}
