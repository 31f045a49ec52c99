package imaging

import "math"

// The changes of color of torchvision's functional.adjust_* on Pillow's images: each is
// truncated to bytes.

// Brightness multiplies by a factor of at least 0.
func (img Image) Brightness(factor float64) {
	img.blend(factor, func([]uint8) [3]uint8 { return [3]uint8{} })
}

// Contrast moves pixels away from the rounded mean of the gray, or to it.
func (img Image) Contrast(factor float64) {
	sum := 0
	for y := range img.H {
		row := img.Row(y)
		for x := range img.W {
			sum += int(luma(row[3*x : 3*x+3]))
		}
	}
	mean := uint8(float64(sum)/float64(img.H*img.W) + 0.5)
	img.blend(factor, func([]uint8) [3]uint8 { return [3]uint8{mean, mean, mean} })
}

// Saturation moves pixels away from their gray, or to it.
func (img Image) Saturation(factor float64) {
	img.blend(factor, func(p []uint8) [3]uint8 { v := luma(p); return [3]uint8{v, v, v} })
}

// blend is Pillow's Image.blend of what from gives, at 0, and the image, at 1, in float32:
// truncated, and clipped where the factor is above 1.
func (img Image) blend(factor float64, from func(p []uint8) [3]uint8) {
	f := float32(factor)
	if f == 1 {
		return
	}
	for y := range img.H {
		row := img.Row(y)
		for x := 0; x < len(row); x += 3 {
			base := from(row[x : x+3])
			for c := range 3 {
				a, b := base[c], row[x+c]
				v := float32(a) + float32(f*float32(int(b)-int(a)))
				row[x+c] = uint8(min(max(v, 0), 255))
			}
		}
	}
}

// Hue turns the hue by a share of the circle, -0.5 to 0.5, in Pillow's HSV of bytes.
func (img Image) Hue(factor float64) {
	turn := uint8(int(factor * 255))
	for y := range img.H {
		row := img.Row(y)
		for x := 0; x < len(row); x += 3 {
			p := row[x : x+3]
			h, s, v := hsv(p[0], p[1], p[2])
			p[0], p[1], p[2] = rgb(h+turn, s, v)
		}
	}
}

// hsv is rgb2hsv of Pillow's Convert.c.
func hsv(r, g, b uint8) (h, s, v uint8) {
	most, least := max(r, g, b), min(r, g, b)
	if most == least {
		return 0, 0, most
	}
	spread := float32(most - least)
	rc, gc, bc := float32(most-r)/spread, float32(most-g)/spread, float32(most-b)/spread
	var hue float32
	switch most {
	case r:
		hue = bc - gc
	case g:
		hue = float32(2 + float64(rc) - float64(bc))
	default:
		hue = float32(4 + float64(gc) - float64(rc))
	}
	hue = float32(math.Mod(float64(hue)/6+1, 1))
	return uint8(float64(hue) * 255), uint8(float64(spread/float32(most)) * 255), most
}

// rgb is hsv2rgb of Pillow's Convert.c.
func rgb(h, s, v uint8) (r, g, b uint8) {
	if s == 0 {
		return v, v, v
	}
	sixths := float64(h) * 6 / 255
	i := math.Floor(sixths)
	f := float32(sixths - i)
	share := float32(float64(s) / 255)
	part := func(x float64) uint8 { return uint8(min(max(math.Round(float64(v)*x), 0), 255)) }
	p := part(1 - float64(share))
	q := part(1 - float64(share*f))
	t := part(1 - float64(float64(share)*(1-float64(f))))
	switch int(i) % 6 {
	case 0:
		return v, t, p
	case 1:
		return q, v, p
	case 2:
		return p, v, t
	case 3:
		return p, q, v
	case 4:
		return t, p, v
	}
	return v, p, q
}
