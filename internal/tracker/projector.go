package tracker

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"tercet/internal/fsx"
	"tercet/internal/render"
)

// Embeddings are points with their classes and pictures.
type Embeddings struct {
	Name    string
	X       []float32 // (N, D), row-major
	N, D    int
	Classes []string       // of each point
	Images  []render.Image // of each point; nil for none
}

// sprite is the side of a picture in the projector's sprite; the whole has at most mostSprite
// pixels a side.
const (
	sprite     = 32
	mostSprite = 8192
)

// MostPoints is how many points a sprite has room for.
const MostPoints = (mostSprite / sprite) * (mostSprite / sprite)

// projectorFiles are what Projector writes.
var projectorFiles = []string{"embeddings.tsv", "classes.tsv", "sprite.png", "projector_config.pbtxt"}

// Projector writes embeddings for TensorBoard's projector into the folder of a run: vectors,
// classes, a sprite of pictures, and the file that names them.
func Projector(folder string, e Embeddings) (files []string, err error) {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return nil, err
	}
	config := fmt.Sprintf("embeddings {\n  tensor_name: %q\n  tensor_path: \"embeddings.tsv\"\n  metadata_path: \"classes.tsv\"\n", e.Name)
	write := func(name string, f func(w *bufio.Writer) error) {
		if err != nil {
			return
		}
		path := filepath.Join(folder, name)
		err = fsx.Write(path, 0o644, func(w io.Writer) error {
			b := bufio.NewWriter(w)
			if err := f(b); err != nil {
				return err
			}
			return b.Flush()
		})
		files = append(files, path)
	}
	write("embeddings.tsv", func(w *bufio.Writer) error {
		for i := range e.N {
			for j, x := range e.X[i*e.D : (i+1)*e.D] {
				if j > 0 {
					w.WriteByte('\t')
				}
				w.WriteString(strconv.FormatFloat(float64(x), 'g', -1, 32))
			}
			w.WriteByte('\n')
		}
		return nil // b keeps its first error, which Flush returns
	})
	write("classes.tsv", func(w *bufio.Writer) error { // without a heading, as a single column has to be
		for _, c := range e.Classes {
			w.WriteString(strings.Map(func(r rune) rune {
				if r < ' ' {
					return ' '
				}
				return r
			}, c) + "\n")
		}
		return nil
	})
	if e.Images != nil {
		write("sprite.png", func(w *bufio.Writer) error { return render.Sprite(w, e.Images, sprite) })
		config += fmt.Sprintf("  sprite {\n    image_path: \"sprite.png\"\n    single_image_dim: %d\n    single_image_dim: %d\n  }\n", sprite, sprite)
	}
	write("projector_config.pbtxt", func(w *bufio.Writer) error {
		_, err := w.WriteString(config + "}\n")
		return err
	})
	return files, err
}
