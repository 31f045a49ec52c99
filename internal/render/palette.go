package render

import "image/color"

// Palette is ten colours that stay apart for people with any common colour
// vision: Okabe and Ito's without black and yellow, completed from Tol's muted
// and bright schemes.
var Palette = []color.RGBA{
	{0x00, 0x72, 0xB2, 255}, // blue
	{0xE6, 0x9F, 0x00, 255}, // orange
	{0x00, 0x9E, 0x73, 255}, // bluish green
	{0xD5, 0x5E, 0x00, 255}, // vermilion
	{0xCC, 0x79, 0xA7, 255}, // reddish purple
	{0x56, 0xB4, 0xE9, 255}, // sky blue
	{0x88, 0x22, 0x55, 255}, // wine
	{0x99, 0x99, 0x33, 255}, // olive
	{0x33, 0x22, 0x88, 255}, // indigo
	{0x66, 0x66, 0x66, 255}, // grey
}

var (
	ink   = color.RGBA{0x22, 0x22, 0x22, 255}
	faint = color.RGBA{0x66, 0x66, 0x66, 255}
	rule  = color.RGBA{0xE3, 0xE3, 0xE3, 255}
	paper = color.RGBA{0xFF, 0xFF, 0xFF, 255}
	right = color.RGBA{0x00, 0x9E, 0x73, 255} // frames of correct and of wrong neighbours:
	wrong = color.RGBA{0xC8, 0x2A, 0x00, 255} // green and red that also differ in lightness
	plain = color.RGBA{0x55, 0x55, 0x55, 255}
)
