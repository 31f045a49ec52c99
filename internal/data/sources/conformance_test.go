package sources_test

import (
	"bytes"
	"encoding/binary"
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"testing"

	"tercet/internal/data"
	"tercet/internal/data/datatest"
	"tercet/internal/data/sources"
)

// Every source does what sources do, on files of a few items. CIFAR-100 has its own
// test.
func TestConformance(t *testing.T) {
	for name, c := range map[string]struct {
		files       map[string][]byte
		source      func(root string) data.Source
		train, test string
	}{
		"mnist": {map[string][]byte{
			"train-images-idx3-ubyte": idxFile(4, 3, 3), "train-labels-idx1-ubyte": idxFile(4),
			"t10k-images-idx3-ubyte": idxFile(2, 3, 3), "t10k-labels-idx1-ubyte": idxFile(2),
		}, func(root string) data.Source { return sources.MNISTOptions{Root: root} }, "d61e53ed0cdbc813487f75af1f95937c4475a19a5dcbbcc567b53b0543e3c96b", "a55183007ca64456f76a0cbfb039c623a5ae8e68673a780b957ee9bd1a99a2f7"},
		"idx": {map[string][]byte{"x": idxFile(4, 3, 3), "y": idxFile(4)}, func(root string) data.Source {
			return sources.IDXOptions{Root: root, Train: sources.ImageFiles{Images: "x", Labels: "y"}}
		}, "d61e53ed0cdbc813487f75af1f95937c4475a19a5dcbbcc567b53b0543e3c96b", ""},
		"cifar10": {map[string][]byte{"data_batch_1.bin": make([]byte, 2*3073), "test_batch.bin": make([]byte, 3073)},
			func(root string) data.Source { return sources.CIFAR10Options{Root: root} }, "5e48877da5abecbb3e908d4f3316a9b46f8eebd540b43aebc20ce46880c328b0", "44760199e746d866da3f6e816278a88706a272f91b4d4101962f0acf37c6efbb"},
		"folder": {map[string][]byte{"train/a/1.png": pngFile(t, 10), "train/b/1.png": pngFile(t, 200), "test/a/1.png": pngFile(t, 20), "test/b/1.png": pngFile(t, 210)},
			func(root string) data.Source { return data.FolderOptions{Root: root, Train: "train", Test: "test"} }, "31bb6676dce71aaf1e6c82682221cd69f740fa092f2c5909e09d046d742af9a2", "5bcae7ba2cdc9ba424b67d4ec3e780d0504cde5021517be44d4f966aad03707d"},
		"npy": {map[string][]byte{"x.npy": npyFile([]float32{1, 2, 3, 4}, 2, 2), "y.csv": []byte("label\n0\n1")}, func(root string) data.Source {
			return sources.NPYOptions{Root: root, Train: sources.VectorFiles{Vectors: "x.npy", Labels: "y.csv"}}
		}, "f3671b01567782d9a6963d0013fee8f82d136d30b47fbc9efb1f3e7c580993b3", ""},
		"glyphs": {nil, func(string) data.Source {
			return sources.GlyphsOptions{Glyphs: sources.Glyphs{Classes: 2, TestClasses: 2, PerClass: 2, Difficulty: 0.5}}
		}, "sha256:b40e36e9f540c8cdfd6c26e852479eb9bf2a883ee71a2144cd71881c30e609d7", "sha256:08c50304f4ab6cd7f4d2949b0b55c9f3ef28a2b23bb1ac466baa3bac184409c8"},
	} {
		t.Run(name, func(t *testing.T) {
			if c.files == nil {
				datatest.Check(t, "", c.source, c.train, c.test)
				return
			}
			dir := t.TempDir()
			for file, content := range c.files {
				path := filepath.Join(dir, file)
				if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, content, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			datatest.Check(t, dir, c.source, c.train, c.test)
		})
	}
}

// idxFile is an IDX file of bytes that count up, labels modulo 2.
func idxFile(shape ...int) []byte {
	out, n := []byte{0, 0, 8, byte(len(shape))}, 1
	for _, s := range shape {
		out, n = binary.BigEndian.AppendUint32(out, uint32(s)), n*s
	}
	for i := range n {
		if len(shape) == 1 {
			i %= 2
		}
		out = append(out, byte(i))
	}
	return out
}

func pngFile(t *testing.T, gray uint8) []byte {
	t.Helper()
	img := image.NewGray(image.Rect(0, 0, 3, 3))
	img.SetGray(1, 2, color.Gray{Y: gray})
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// npyFile is an array of float32 in version 1.0 of the format.
func npyFile(x []float32, rows, columns int) []byte {
	header := []byte("{'descr': '<f4', 'fortran_order': False, 'shape': (" + string(rune('0'+rows)) + ", " + string(rune('0'+columns)) + "), }")
	for (10+len(header)+1)%64 != 0 {
		header = append(header, ' ')
	}
	header = append(header, '\n')
	out := binary.LittleEndian.AppendUint16([]byte("\x93NUMPY\x01\x00"), uint16(len(header)))
	out = append(out, header...)
	for _, v := range x {
		out, _ = binary.Append(out, binary.LittleEndian, v)
	}
	return out
}
