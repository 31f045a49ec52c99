package evaluate

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"tercet/internal/fsx"
	"tercet/internal/record"
)

// exportFile is one of the files of an export.
type exportFile struct {
	path string
	fill func(io.Writer) error
}

// ExportPaths are the files that an export to path consists of: embeddings, labels, items.
func ExportPaths(path string) [3]string {
	base := trimFormat(path)
	return [3]string{path, base + ".labels.npy", base + ".items.csv"}
}

// keep refuses to replace what is at path by other content: files of an export do not say
// of which run, images and weights they are.
func (f exportFile) keep() error {
	there, err := fsx.SHA256(f.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	now := sha256.New()
	if err := f.fill(now); err != nil {
		return fmt.Errorf("%s: %w", f.path, err)
	}
	if there != hex.EncodeToString(now.Sum(nil)) {
		return &record.KeptError{Path: f.path, Lost: []string{"what is there, which is not of this run, these images and these weights"}}
	}
	return nil
}
