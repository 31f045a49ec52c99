package safetensors

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash"
	"io"
	"maps"
	"strings"
)

// digestKey is the metadata key of a file's digest: the SHA-256, in lower-case
// hexadecimal, of all its bytes with these 64 digits as zeros.
const digestKey = "digest"

var noDigest = strings.Repeat("0", 2*sha256.Size)

// WriteSealed is Write of f with its digest in the metadata, so that a reader notices
// any change. The key "digest" of f.Meta must be free.
func WriteSealed(w io.Writer, f *File) error {
	g := &File{Meta: maps.Clone(f.Meta), Tensors: f.Tensors}
	if g.Meta == nil {
		g.Meta = map[string]string{}
	}
	g.Meta[digestKey] = noDigest
	head, err := header(g)
	if err != nil {
		return err
	}
	sum := sha256.New()
	sum.Write(head) // a hash takes all
	if err := writeData(sum, f.Tensors); err != nil {
		return err
	}
	at := digestAt(head)
	hex.Encode(head[at:], sum.Sum(nil))
	if _, err := w.Write(head); err != nil {
		return err
	}
	return writeData(w, f.Tensors)
}

// digestAt returns where in head the digits of the digest begin, or -1 where it does
// not hold exactly one. Quotes inside texts are escaped, so that no other key matches.
func digestAt(head []byte) int {
	key := []byte(`"` + digestKey + `":"`)
	i := bytes.Index(head, key)
	if i < 0 || bytes.LastIndex(head, key) != i || i+len(key)+len(noDigest) > len(head) {
		return -1
	}
	return i + len(key)
}

// begin returns a hash that has seen the length of a sealed file's header and the
// header, without the digest.
func begin(head []byte) hash.Hash {
	sum := sha256.New()
	var length [8]byte
	binary.LittleEndian.PutUint64(length[:], uint64(len(head)))
	sum.Write(length[:])
	if at := digestAt(head); at >= 0 {
		head = bytes.Clone(head)
		copy(head[at:], noDigest)
	}
	sum.Write(head)
	return sum
}

// checkDigest returns an error unless the digest in f's metadata, if any, is sum's.
func (f *File) checkDigest(sum hash.Hash) error {
	want, ok := f.Meta[digestKey]
	if !ok {
		return nil
	}
	if hex.EncodeToString(sum.Sum(nil)) != want {
		return bad("its content does not match its digest: the file was damaged or changed after it was written")
	}
	f.Sealed = true
	return nil
}
