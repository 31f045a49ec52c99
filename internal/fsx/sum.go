package fsx

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
)

// SHA256 returns the hexadecimal SHA-256 of the regular file at path.
func SHA256(path string) (string, error) {
	f, _, err := OpenRegular(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", fmt.Errorf("%s: %w", path, err)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
