package bench

import (
	"bytes"
	"image"
	"image/color"
	"image/jpeg"
	"math"

	"tercet/internal/engine/kernel"
	"tercet/internal/imaging"
	"tercet/internal/imaging/transform"
	"tercet/internal/par"
)

// photoJobs decode files as data.transform does.
func photoJobs() []Job {
	return []Job{{"photos", "32 JPEGs of 500x334, 4:2:0, decoded, Resize(256), CenterCrop(224)", "", func(Options) ([]task, error) {
		return photos(32, 334, 500)
	}}}
}

// photo is a picture with edges and a little noise, by a formula that the peer repeats.
func photo(h, w, seed int) image.Image {
	img := image.NewRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			var p [3]uint8
			for c := range p {
				fx, fy, k := float64(x), float64(y), float64(c+3*seed)
				v := 128 + 50*math.Sin(fx*0.031+k) + 40*math.Sin(fy*0.047-2*k) + 20*math.Sin(fx*fy*0.0009)
				if (x/(40+7*c)+y/(33+5*c)+seed)%2 == 0 {
					v += 30
				}
				n := uint32(y*w+x+c) * 0x9E3779B1
				v += float64(n>>28) - 8
				p[c] = uint8(min(max(v, 0), 255))
			}
			img.Set(x, y, color.RGBA{p[0], p[1], p[2], 255})
		}
	}
	return img
}

// eye is what one thread decodes with.
type eye struct {
	decoder imaging.Decoder
	img     imaging.Image
	canvas  transform.Canvas
}

func photos(n, h, w int) ([]task, error) {
	const side = 224
	steps, err := transform.Parse([]string{"Resize(256)", "CenterCrop(224)"})
	if err != nil {
		return nil, err
	}
	files := make([][]byte, n)
	for i := range files {
		var b bytes.Buffer
		if err := jpeg.Encode(&b, photo(h, w, i), &jpeg.Options{Quality: 90}); err != nil {
			return nil, err
		}
		files[i] = b.Bytes()
	}
	out := make([]float32, n*side*side*3)
	var spare par.Free[eye]
	errs := make([]error, n)
	return []task{{
		images: n,
		run: repeat(func() error {
			par.For(n, 1, func(lo, hi int) {
				e := spare.Get()
				defer spare.Put(e)
				for i := lo; i < hi; i++ {
					if errs[i] = e.decoder.Decode(&e.img, files[i]); errs[i] != nil {
						return
					}
					img := steps.Apply(&e.canvas, e.img, nil)
					for y := range side {
						kernel.Pixels(img.Row(y), out[(i*side+y)*side*3:])
					}
				}
			})
			for _, err := range errs {
				if err != nil {
					return err
				}
			}
			return nil
		}),
		results: func(visit func(string, []float32)) { visit("pixels", out) },
	}}, nil
}
