package transform

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"tercet/internal/imaging"
	"tercet/internal/rng"
)

func parse(t *testing.T, steps ...string) Pipeline {
	t.Helper()
	p, err := Parse(steps)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func noise(h, w int, seed uint64) imaging.Image {
	img, r := imaging.New(h, w), rng.New(seed, "test")
	for i := range img.Pix {
		img.Pix[i] = uint8(r.Uint32())
	}
	return img
}

func rows(img imaging.Image) (out []byte) {
	for y := range img.H {
		out = append(out, img.Row(y)...)
	}
	return out
}

// All draws of boxes have the means and deviations of torchvision's, and where these do not
// vary the same values.
func TestDrawsAreTorchvisions(t *testing.T) {
	t.Parallel()
	var list []struct {
		Kind         string
		H, W         int
		Scale, Ratio [2]float64
		Mean, SD     [4]float64
	}
	b, err := os.ReadFile("testdata/draws.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, &list); err != nil {
		t.Fatal(err)
	}
	const n = 20000
	for _, g := range list {
		r := rng.New(1, "boxes")
		var sum, squares [4]float64
		for range n {
			var box [4]int
			if g.Kind == "RandomErasing" {
				box[0], box[1], box[2], box[3], _ = RandomErasing{Scale: g.Scale, Ratio: g.Ratio}.box(g.H, g.W, r)
			} else {
				box[0], box[1], box[2], box[3] = RandomResizedCrop{Scale: g.Scale, Ratio: g.Ratio}.box(g.H, g.W, r)
			}
			for k, v := range box {
				sum[k] += float64(v)
				squares[k] += float64(v * v)
			}
		}
		for k := range sum {
			mean := sum[k] / n
			sd := math.Sqrt(squares[k]/n - mean*mean)
			// Both are means of n draws: five standard errors of their difference.
			if math.Abs(mean-g.Mean[k]) > 5*g.SD[k]*math.Sqrt(2./n)+1e-9 || math.Abs(sd-g.SD[k]) > 0.03*g.SD[k]+1e-4 {
				t.Errorf("%s of %dx%d, number %d: mean %v, deviation %v; want %v and %v", g.Kind, g.H, g.W, k, mean, sd, g.Mean[k], g.SD[k])
			}
		}
	}
}

// A resize and a crop in one go give the pixels of one after the other.
func TestPartsAreThoseOfTheWhole(t *testing.T) {
	t.Parallel()
	for i, size := range [][2]int{{40, 60}, {60, 40}, {20, 90}, {33, 33}, {1, 50}} {
		img := noise(size[0], size[1], uint64(i))
		for _, steps := range [][]string{{"Resize(32)", "CenterCrop(28)"}, {"Resize(24)", "CenterCrop(30)"}, {"Resize((40, 30), bicubic)", "RandomCrop(28)"}, {"Resize(24)", "RandomCrop(28, padding=4)"}} {
			p := parse(t, steps...)
			var a, b Canvas
			got := rows(p.Apply(&a, img, rng.New(3, "x")))
			r := rng.New(3, "x")
			want := rows(p[1:].Apply(&b, p[:1].Apply(new(Canvas), img, r), r))
			if !bytes.Equal(got, want) {
				t.Errorf("%v of %v: other pixels", steps, size)
			}
		}
	}
}

// Steps with given factors do what imaging does, in every order of steps, and leave the
// image that they are given as it is.
func TestStepsChangeACopy(t *testing.T) {
	t.Parallel()
	img := noise(20, 30, 9)
	before := bytes.Clone(img.Pix)
	p := parse(t, "RandomHorizontalFlip(1)", "ColorJitter(brightness=(1.5, 1.5))", "RandomErasing(1, (0.1, 0.1), (1, 1), (1, 0.5, 0))")
	var c Canvas
	got := p.Apply(&c, img, rng.New(4, "x"))
	if !bytes.Equal(img.Pix, before) {
		t.Fatal("the image of the caller was changed")
	}
	want := noise(20, 30, 9)
	want.Mirror()
	want.Brightness(1.5)
	erased := 0
	for i := 0; i < len(want.Pix); i += 3 {
		switch {
		case bytes.Equal(got.Pix[i:i+3], want.Pix[i:i+3]):
		case bytes.Equal(got.Pix[i:i+3], []byte{255, 128, 0}):
			erased++
		default:
			t.Fatalf("pixel %d is %v, want %v", i/3, got.Pix[i:i+3], want.Pix[i:i+3])
		}
	}
	if erased < 60 || erased > 64 { // 8 by 8, of a tenth of 600; some may have had the color
		t.Errorf("%d pixels erased", erased)
	}
	again := p.Apply(&c, img, rng.New(4, "x"))
	if !bytes.Equal(rows(got), rows(again)) {
		t.Error("the same stream gives other pixels")
	}
}

// Probabilities and orders: each of the 24 orders of a jitter comes up, flips half the time.
func TestChances(t *testing.T) {
	t.Parallel()
	img := noise(4, 4, 1)
	var c Canvas
	flips, results := 0, map[string]int{}
	r := rng.New(6, "x")
	flip := parse(t, "RandomHorizontalFlip")
	jitter := parse(t, "ColorJitter((0.5, 0.5), (1.7, 1.7), (0.2, 0.2), (0.3, 0.3))")
	for range 1200 {
		if !bytes.Equal(flip.Apply(&c, img, r).Pix, img.Pix) {
			flips++
		}
		results[string(jitter.Apply(&c, img, r).Pix)]++
	}
	if flips < 500 || flips > 700 || len(results) < 12 { // some orders give the same
		t.Errorf("%d flips of 1200, %d different orders", flips, len(results))
	}
}

func TestParse(t *testing.T) {
	t.Parallel()
	p := parse(t, "Resize(size=256, interpolation=bicubic)", " CenterCrop( (224,200) ) ", "RandomResizedCrop(224, scale=(0.2, 1), ratio=[3/4, 4/3])", "RandomHorizontalFlip()", "ColorJitter")
	want := "Resize(size=256, interpolation=bicubic), CenterCrop(size=(224, 200)), RandomResizedCrop(size=224, scale=(0.2, 1), ratio=(0.75, 1.3333333333333333), interpolation=bilinear), " +
		"RandomHorizontalFlip(p=0.5), ColorJitter(brightness=0, contrast=0, saturation=0, hue=0)"
	if p.String() != want {
		t.Errorf("%s", p)
	}
	var texts []string
	for _, s := range p {
		texts = append(texts, Text(s))
	}
	if again := parse(t, texts...); again.String() != want {
		t.Errorf("read back: %s", again)
	}
	for text, want := range map[string]string{
		"Resise(3)":                       `step 1: unknown step "Resise"; did you mean Resize?`,
		"Resize(256":                      "no closing parenthesis",
		"Resize()":                        "size must have at least one value",
		"Resize(0)":                       "size must be >=1 and <=4096, is 0",
		"Resize(1.5)":                     `size must be a whole number, is "1.5"`,
		"Resize((1, 2, 3))":               "size must be one number or (height, width), has 3",
		"Resize(3, lanczos)":              `interpolation unknown value "lanczos"`,
		"Resize(3, antialias=True)":       `unknown argument "antialias"`,
		"Resize(size=3, bicubic)":         "without a name comes after one with a name",
		"Resize(3, size=4)":               "size is given twice",
		"CenterCrop(3, 4)":                "2 arguments; it has 1: size",
		"RandomResizedCrop(3, (1, 0.5))":  "scale must rise: 0.5 comes after 1",
		"RandomResizedCrop(3, (0, 1))":    "scale must be >0 and <=1, is 0",
		"RandomResizedCrop(3, 0.5)":       "must be 2 numbers in parentheses",
		"RandomHorizontalFlip(NaN)":       "p must be >=0 and <=1, is NaN",
		"ColorJitter(-1)":                 "brightness must be >=0",
		"ColorJitter(hue=-0.1)":           "hue must be at least 0",
		"ColorJitter(hue=(0.2, -0.2))":    "hue must rise",
		"RandomErasing(value=(1, 2))":     "value must be",
		"RandomErasing(0.5, (0.1, (0.2))": "parentheses",
		"ToTensor()":                      "pixels become numbers",
		"Normalize((0.5,), (0.5,))":       "first layer of a model",
		"":                                `unknown step ""`,
	} {
		if _, err := Parse([]string{text}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %q", text, err, want)
		}
	}
}

func TestShape(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"Resize(256); CenterCrop(224)":               "224 224",
		"Resize((256, 200)); RandomCrop((224, 200))": "224 200",
		"RandomResizedCrop(96); Resize(48)":          "48 48",
		"CenterCrop((20, 30)); Resize(10)":           "10 15",
		"RandomCrop(32, 32)":                         "32 32",
		"Resize(256)":                                "images keep different sizes",
		"":                                           "images keep different sizes",
		"Resize(100); RandomCrop(101)":               "step 2, RandomCrop: 101x101 pixels do not fit into images that may be as small as 100x100",
		"RandomCrop(32)":                             "step 1, RandomCrop",
	} {
		var steps []string
		if text != "" {
			steps = strings.Split(text, ";")
		}
		h, w, err := parse(t, steps...).Shape()
		switch {
		case err != nil && !strings.Contains(err.Error(), want), err == nil && want != fmt.Sprintf("%d %d", h, w):
			t.Errorf("%s: %d %d, %v, want %s", text, h, w, err, want)
		case err == nil: // what is drawn has that shape, whatever the image
			for i, size := range [][2]int{{1, 1}, {300, 200}, {7, 500}} {
				var c Canvas
				img := parse(t, steps...).Apply(&c, noise(size[0], size[1], 1), rng.New(uint64(i), "x"))
				if img.H != h || img.W != w {
					t.Errorf("%s of %v: %dx%d", text, size, img.H, img.W)
				}
			}
		}
	}
	if p := parse(t, "Resize(8)", "CenterCrop(8)"); p.Random() {
		t.Error("draws nothing")
	}
	if p := parse(t, "Resize(8)", "RandomCrop(8)"); !p.Random() {
		t.Error("draws")
	}
}
