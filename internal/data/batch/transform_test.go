package batch

import (
	"math"
	"slices"
	"testing"

	"tercet/internal/rng"
)

// The crop against a plain loop over the padded image: every window must occur,
// each as often as any other, and nothing else.
func TestRandomCropTakesEveryWindowAlike(t *testing.T) {
	const h, w, c, pad, size = 4, 3, 2, 2, 3
	src := make([]float32, h*w*c)
	for i := range src {
		src[i] = float32(i + 1)
	}
	at := func(y, x, k int) float32 {
		if y < 0 || y >= h || x < 0 || x >= w {
			return 0
		}
		return src[(y*w+x)*c+k]
	}
	windows := map[string]int{}
	for top := -pad; top+size <= h+pad; top++ {
		for left := -pad; left+size <= w+pad; left++ {
			windows[window(at, top, left, size, size, c)] = 0
		}
	}
	const draws = 6000
	r := rng.New(1, "crop")
	img, scratch := make([]float32, len(src)), make([]float32, len(src))
	for range draws {
		copy(img, src)
		RandomCrop{Size: size, Pad: pad}.Apply(img, scratch, h, w, c, r)
		k := key(img[:size*size*c])
		if _, ok := windows[k]; !ok {
			t.Fatalf("not a window: %v", img[:size*size*c])
		}
		windows[k]++
	}
	p := 1 / float64(len(windows))
	if len(windows) != (h+2*pad-size+1)*(w+2*pad-size+1) {
		t.Fatalf("%d windows", len(windows))
	}
	for _, n := range windows {
		if math.Abs(float64(n)-draws*p) > 4.5*math.Sqrt(draws*p*(1-p)) {
			t.Errorf("a window occurs %d times in %d, want about %v", n, draws, draws*p)
		}
	}
}

func window(at func(y, x, k int) float32, top, left, h, w, c int) string {
	var v []float32
	for y := range h {
		for x := range w {
			for k := range c {
				v = append(v, at(top+y, left+x, k))
			}
		}
	}
	return key(v)
}

func key(v []float32) string {
	b := make([]byte, len(v))
	for i := range v {
		b[i] = byte(v[i])
	}
	return string(b)
}

func TestRandomFlip(t *testing.T) {
	img := []float32{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12} // 2x3x2
	was := slices.Clone(img)
	RandomFlip{P: 1}.Apply(img, nil, 2, 3, 2, rng.New(0, "flip"))
	if want := []float32{5, 6, 3, 4, 1, 2, 11, 12, 9, 10, 7, 8}; !slices.Equal(img, want) {
		t.Errorf("got %v, want %v", img, want)
	}
	img = slices.Clone(was)
	RandomFlip{P: 0}.Apply(img, nil, 2, 3, 2, rng.New(0, "flip"))
	if !slices.Equal(img, was) {
		t.Error("P = 0 mirrors")
	}
	r := rng.New(0, "flip")
	n := 0
	for range 1000 {
		copy(img, was)
		RandomFlip{P: 0.3}.Apply(img, nil, 2, 3, 2, r)
		if img[0] != 1 {
			n++
		}
	}
	if n < 240 || n > 360 {
		t.Errorf("P = 0.3 mirrors %d of 1000", n)
	}
}

func TestAugmentOptions(t *testing.T) {
	if tf, err := (Augment{}).Transform(); tf != nil || err != nil {
		t.Errorf("the default is %v, %v", tf, err)
	}
	for _, a := range []Augment{{Pad: -1}, {Crop: -1}, {Flip: 1.5}, {Flip: -1}, {Flip: math.NaN()}} {
		if _, err := a.Transform(); err == nil {
			t.Errorf("%+v accepted", a)
		}
	}
	tf, err := Augment{Crop: 5, Flip: 0.5}.Transform()
	if err != nil {
		t.Fatal(err)
	}
	if h, w, err := tf.Out(8, 6); h != 5 || w != 5 || err != nil {
		t.Errorf("crop 5 of 8x6: %d %d %v", h, w, err)
	}
	if _, _, err := tf.Out(8, 4); err == nil {
		t.Error("crop 5 of 8x4 accepted")
	}
}
