package robustness

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"path/filepath"
	"strconv"

	"tercet/internal/attack/retrieval"
	"tercet/internal/attack/worst"
	"tercet/internal/data/npy"
)

// ReadGiven reads adversarial images from other programs and returns their digest. The
// folder holds adversarial.npy, (N, H, W, C) or (N, pixels) in [0, 1], and queries.npy,
// the index in the set of the image that each row was made from.
func ReadGiven(folder string) (*worst.Given, string, error) {
	path := filepath.Join(folder, "adversarial.npy")
	x, shape, err := npy.ReadRows(path)
	if err != nil {
		return nil, "", err
	}
	of := filepath.Join(folder, "queries.npy")
	ids, names, err := npy.ReadLabelsOf(npy.LabelFile{Path: of}, x.Rows(), fmt.Sprintf("%s has %d images", path, x.Rows()))
	if err != nil {
		return nil, "", err
	}
	g, sum := &worst.Given{Images: x, Shape: shape, From: folder}, sha256.New()
	for k, id := range ids {
		item, err := strconv.Atoi(names[id])
		if err != nil {
			return nil, "", retrieval.Unfit("%s: entry %d is %q, not the index of an image", of, k, names[id])
		}
		g.Items = append(g.Items, item)
		binary.Write(sum, binary.LittleEndian, int64(item)) // a hash takes all
	}
	binary.Write(sum, binary.LittleEndian, x.Data)
	return g, hex.EncodeToString(sum.Sum(nil)), nil
}
