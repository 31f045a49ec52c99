package record

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"regexp"
	"slices"
)

// ErrDigest says that a document is not as it was written.
var ErrDigest = errors.New("the content does not match its digest: the file was damaged or changed after it was written; make it again, restore it, or remove its last key, digest, to use it as it is")

// Seal returns doc, a JSON object, indented and with its digest as the last key: the
// SHA-256, in hexadecimal, of the object without that key and without white space
// outside of texts.
func Seal(doc []byte) ([]byte, error) {
	var flat bytes.Buffer
	if err := json.Compact(&flat, doc); err != nil {
		return nil, err
	}
	b := flat.Bytes()
	if len(b) < 2 || b[0] != '{' || last.Match(b[max(0, len(b)-tail):]) {
		return nil, errors.New("record: only an object without a digest can be given one")
	}
	sum := sha256.Sum256(b)
	whole := append([]byte(nil), b[:len(b)-1]...)
	if len(b) > 2 {
		whole = append(whole, ',')
	}
	whole = append(whole, `"digest":"`+hex.EncodeToString(sum[:])+`"}`...)
	var out bytes.Buffer
	if err := json.Indent(&out, whole, "", "  "); err != nil {
		return nil, err
	}
	out.WriteByte('\n')
	return out.Bytes(), nil
}

// last matches a document, without white space, that ends in a digest: by the name of
// its last key, or by what looks like one under a name that was damaged.
var last = regexp.MustCompile(`[{,](?:"digest":"[^"]*"|"[^"]{6}":"[0-9a-f]{64}")\}$`)

// tail is longer than what last matches.
const tail = 128

// Check returns ErrDigest where doc, a JSON object, has a digest and does not match it.
// White space does not count. Documents of older versions have none.
//
// Other errors are those of a document that is no JSON.
func Check(doc []byte) error {
	if !json.Valid(doc) {
		return json.Unmarshal(doc, new(any))
	}
	return check(doc)
}

// compact is doc, JSON, without white space outside of texts. It does not ask whether doc
// is JSON: reading it does, and json.Compact would read all of it once more.
func compact(doc []byte) []byte {
	out := make([]byte, 0, len(doc))
	for len(doc) > 0 {
		switch c := doc[0]; c {
		case ' ', '\n', '\t', '\r':
			doc = doc[1:]
		case '"':
			n := 1
			for n < len(doc) && doc[n] != '"' {
				if doc[n] == '\\' {
					n++
				}
				n++
			}
			n = min(n+1, len(doc))
			out, doc = append(out, doc[:n]...), doc[n:]
		default:
			out, doc = append(out, c), doc[1:]
		}
	}
	return out
}

// check is Check of what is JSON; of other texts its answer has no meaning.
func check(doc []byte) error {
	b := compact(doc)
	from := max(0, len(b)-tail)
	at := last.FindIndex(b[from:])
	if at == nil {
		return nil
	}
	rest := b[:from+at[0]]
	if b[len(rest)] == '{' {
		rest = append(rest, '{')
	}
	sum := sha256.New()
	sum.Write(rest)
	sum.Write([]byte{'}'})
	if want := `"digest":"` + hex.EncodeToString(sum.Sum(nil)) + `"}`; string(b[from+at[0]+1:]) != want {
		return ErrDigest
	}
	return nil
}

// sealed matches the digest at the end of a document.
var sealed = regexp.MustCompile(`,?\s*"digest"\s*:\s*"[0-9a-f]*"\s*\}\s*$`)

// unsealed is a document without the digest that it may have.
func unsealed(doc []byte) []byte {
	from := max(0, len(doc)-2*tail)
	at := sealed.FindIndex(doc[from:])
	if at == nil {
		return doc
	}
	return append(slices.Clone(doc[:from+at[0]]), '}')
}
