package clitest

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tercet/internal/data/npy"
	"tercet/internal/engine/array"
	"tercet/internal/fsx"
)

// ClassFolders writes root/class-K/N.png: gray images of 20 to 23 pixels a side, whose
// brightness says their class.
func ClassFolders(t *testing.T, root string, classes, images int) {
	t.Helper()
	for k := range classes {
		for n := range images {
			img := image.NewGray(image.Rect(0, 0, 20+n%4, 20+k%4))
			for i := range img.Pix {
				img.Pix[i] = uint8(30*k + i%(k+n+2))
			}
			img.SetGray(n, k, color.Gray{Y: 255})
			writePNG(t, filepath.Join(root, fmt.Sprintf("class-%d", k), fmt.Sprintf("%d.png", n)), img)
		}
	}
}

func writePNG(t *testing.T, path string, img image.Image) {
	t.Helper()
	var b strings.Builder
	if err := png.Encode(&b, img); err != nil {
		t.Fatal(err)
	}
	// Put writes a file and the folders that it is in.
	Put(t, path, b.String())
}

// Idx makes an IDX file of bytes with the extents of dims.
func Idx(content []byte, dims ...int) string {
	b := []byte{0, 0, 8, byte(len(dims))}
	for _, d := range dims {
		b = binary.BigEndian.AppendUint32(b, uint32(d))
	}
	return string(append(b, content...))
}

// Gz compresses text.
func Gz(text string) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	io.WriteString(w, text)
	w.Close()
	return b.String()
}

// Ramp is n bytes that differ.
func Ramp(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i * i >> 3)
	}
	return b
}

// Digits are n labels 0, 1, 2, 3, 0, ...
func Digits(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i % 4)
	}
	return b
}

// PicturePNG is a square picture.
func PicturePNG(side int) string {
	img := image.NewGray(image.Rect(0, 0, side, side))
	copy(img.Pix, Ramp(len(img.Pix)))
	var b bytes.Buffer
	png.Encode(&b, img)
	return b.String()
}

func Put(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	WriteFile(t, path, content)
}

// Vectors writes an npy file (n, d) of float32 and returns its bytes.
func Vectors(t *testing.T, path string, n, d int, x ...float32) string {
	t.Helper()
	a := array.New(n, d)
	for i := range a.Data {
		a.Data[i] = float32(i%7) + 0.1*float32(i%4)
	}
	copy(a.Data, x)
	if err := fsx.Write(path, 0o644, func(w io.Writer) error { return npy.Write(w, a) }); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
