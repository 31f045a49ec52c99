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
		n := 1
		switch doc[0] {
		case ' ', '\n', '\t', '\r':
			doc = doc[1:]
			continue
		case '"':
			n = textLen(doc)
		}
		out, doc = append(out, doc[:n]...), doc[n:]
	}
	return out
}

// textLen is the length of the text that doc begins with, with its quotes; all of doc where
// the text does not end.
func textLen(doc []byte) int {
	for n, quote := 1, 0; ; {
		if quote < n { // not looked for, or escaped
			next := bytes.IndexByte(doc[min(n, len(doc)):], '"')
			if next < 0 {
				return len(doc)
			}
			quote = n + next
		}
		escape := bytes.IndexByte(doc[n:quote], '\\')
		if escape < 0 {
			return quote + 1
		}
		n += escape + 2
	}
}

// without is content, as opened returns it, without some keys of the outermost object; as it
// is where it is no object: a digest does not say that a document is JSON.
func without(content []byte, keys []string) []byte {
	if keys == nil || len(content) < 2 {
		return content
	}
	out := make([]byte, 1, 4096)
	out[0] = '{'
	for rest := content[1:]; rest[0] == '"'; {
		key := textLen(rest)
		if key == len(rest) || rest[key] != ':' {
			return content
		}
		n := key + 1 + valueLen(rest[key+1:])
		if n == len(rest) {
			return content
		}
		if !slices.Contains(keys, string(rest[1:key-1])) {
			out = append(append(out, rest[:n]...), ',')
		}
		if rest = rest[n:]; len(rest) > 1 { // at the comma, not the end
			rest = rest[1:]
		}
	}
	if len(out) > 1 {
		out = out[:len(out)-1]
	}
	return append(out, '}')
}

// valueLen is the length of the value that doc, JSON without white space, begins with.
func valueLen(doc []byte) int {
	for n, depth := 0, 0; n < len(doc); n++ {
		switch doc[n] {
		case '"':
			n += textLen(doc[n:]) - 1
		case '{', '[':
			depth++
		case '}', ']', ',':
			if depth == 0 {
				return n
			}
			if doc[n] != ',' {
				depth--
			}
		}
	}
	return len(doc)
}

// check is Check of what is JSON; of other texts its answer has no meaning.
func check(doc []byte) error {
	_, err := opened(doc)
	return err
}

// opened is the content of doc, JSON, without white space and without its digest, where it
// has one that matches; nil where it has none.
func opened(doc []byte) ([]byte, error) {
	b := compact(doc)
	from := max(0, len(b)-tail)
	at := last.FindIndex(b[from:])
	if at == nil {
		return nil, nil
	}
	content, digest := b[:from+at[0]], string(b[from+at[0]+1:])
	if b[len(content)] == '{' {
		content = append(content, '{')
	}
	content = append(content, '}')
	sum := sha256.Sum256(content)
	if digest != `"digest":"`+hex.EncodeToString(sum[:])+`"}` {
		return nil, ErrDigest
	}
	return content, nil
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
