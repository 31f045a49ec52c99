package newimages

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"

	"tercet/internal/fsx"
	"tercet/internal/par"
)

// ends is how many bytes at either end of a file are hashed: little to read, and hardly any
// encoder writes another image with the same ones.
const ends = 4 << 10

// stateOf is a hash that changes with the files: of size, time of modification, and the
// first and last bytes of each. A whole hash would read all images once more.
func stateOf(files []string) string {
	states := make([][sha256.Size]byte, len(files))
	par.Each(len(files), 64, func(i int) {
		states[i] = fileState(files[i])
	})
	sum := sha256.New()
	for i := range states {
		sum.Write(states[i][:])
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// fileState is the state of one file. What cannot be read, its reader says.
func fileState(path string) (out [sha256.Size]byte) {
	sum := sha256.New()
	if f, size, err := fsx.OpenRegular(path); err == nil {
		defer f.Close()
		fmt.Fprintln(sum, size, modified(f))
		for _, at := range []int64{0, max(0, size-ends)} {
			io.Copy(sum, io.NewSectionReader(f, at, ends))
		}
	}
	sum.Sum(out[:0])
	return out
}

func modified(f *os.File) int64 {
	info, err := f.Stat()
	if err != nil {
		return 0
	}
	return info.ModTime().UnixNano()
}
