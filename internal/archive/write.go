package archive

import (
	"archive/zip"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"tercet/internal/fsx"
)

// Sums is the name of an archive's list of SHA-256 sums, as sha256sum -c reads it.
const Sums = "SHA256SUMS"

// Write writes an archive at path of files, from the name inside to the file that is
// read. The bytes follow from names and contents alone: names in order, no times. Files of
// more than maxFile bytes are refused.
func Write(path string, files map[string]string) error {
	names := slices.Sorted(maps.Keys(files))
	if len(names) >= maxFiles {
		return fmt.Errorf("%s would hold %d files, but an archive must have fewer than %d; write several", path, len(names), maxFiles)
	}
	var sums strings.Builder
	for _, name := range names {
		if !fs.ValidPath(name) || name == Sums {
			return fmt.Errorf("no archive can hold a file named %q", name)
		}
		b, err := fsx.ReadFile(files[name], maxFile)
		if err != nil {
			return err
		}
		sum := sha256.Sum256(b)
		fmt.Fprintf(&sums, "%s  %s\n", hex.EncodeToString(sum[:]), name)
	}
	return fsx.Write(path, 0o644, func(w io.Writer) error {
		z := zip.NewWriter(w)
		if err := add(z, Sums, []byte(sums.String())); err != nil {
			return err
		}
		for _, name := range names {
			b, err := fsx.ReadFile(files[name], maxFile)
			if err == nil {
				err = add(z, name, b)
			}
			if err != nil {
				return err
			}
		}
		return z.Close()
	})
}

func add(z *zip.Writer, name string, b []byte) error {
	h := &zip.FileHeader{Name: name, Method: zip.Deflate}
	h.SetMode(0o644)
	w, err := z.CreateHeader(h)
	if err == nil {
		_, err = w.Write(b)
	}
	return err
}
