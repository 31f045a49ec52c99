package generalize

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"tercet/internal/render"
)

// Measurement is what was measured: the document of a JSON file.
type Measurement interface {
	// File is the document's name in the run's directory.
	File() string
	// Table shows it to people.
	Table() *render.Table
	// Draw makes pictures in dir and returns their paths.
	Draw(dir string) ([]string, error)
	// Cautions say what makes the numbers less than they seem.
	Cautions() []string
}

// pictured is a Measurement that Draw draws under fixed names.
type pictured interface {
	pictures() []string // in the folder of figures
}

// Undraw removes the pictures of an earlier measurement of the kind of m from dir: they
// do not show what is in the document now.
func Undraw(m Measurement, dir string) error {
	p, ok := m.(pictured)
	if !ok {
		return nil
	}
	for _, name := range p.pictures() {
		if err := os.Remove(filepath.Join(dir, name)); err != nil && !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("old picture: %w", err)
		}
	}
	return nil
}
