package contract

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"image"
	"image/draw"
	"image/png"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"tercet/internal/safetensors"
	"tercet/internal/testutil"
)

// restore writes a snapshot into the current folder.
func restore(t *testing.T, files map[string]string) {
	t.Helper()
	for path, b := range files {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		testutil.Write(t, path, b)
	}
}

// changes describes what became of files: new and other ones with their content,
// removed ones by name.
func changes(before, after map[string]string, dir, root string) string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(after)) {
		was, had := before[name]
		if had && was == after[name] {
			continue
		}
		text := describe(name, []byte(after[name]), dir, root)
		if had && text == describe(name, []byte(was), dir, root) {
			continue // other times alone
		}
		fmt.Fprintf(&b, "file %s: %s\n", name, text)
	}
	for _, name := range slices.Sorted(maps.Keys(before)) {
		if _, ok := after[name]; !ok {
			fmt.Fprintf(&b, "removed %s\n", name)
		}
	}
	return b.String()
}

// textLines is the most lines of a text file that a golden has in full.
const textLines = 60

// describe is the content of documents and short texts; of the rest, a digest;
// of pictures, of their pixels, whose compression may change with Go.
func describe(name string, b []byte, dir, root string) string {
	switch path.Ext(name) {
	case ".json":
		return "\n" + indent(scrub(document(b), dir, root))
	case ".jsonl":
		return "\n" + indent(scrub(string(b), dir, root))
	case ".safetensors":
		f, err := safetensors.Parse(b)
		if err != nil {
			return "damaged: " + err.Error()
		}
		return fmt.Sprintf("%d tensors, metadata %s, sha256 %.12x", len(f.Tensors), strings.Join(slices.Sorted(maps.Keys(f.Meta)), " "), sha256.Sum256(b))
	case ".png":
		img, err := png.Decode(bytes.NewReader(b))
		if err != nil {
			return "damaged: " + err.Error()
		}
		return fmt.Sprintf("%d x %d pixels, sha256 %.12x", img.Bounds().Dx(), img.Bounds().Dy(), sha256.Sum256(pixels(img)))
	case ".npy":
		return fmt.Sprintf("%d bytes, sha256 %.12x", len(b), sha256.Sum256(b))
	}
	if bytes.IndexByte(b, 0) >= 0 {
		return fmt.Sprintf("%d bytes, sha256 %.12x", len(b), sha256.Sum256(b))
	}
	text := scrub(string(b), dir, root)
	lines := strings.Count(text, "\n")
	if lines > textLines || path.Ext(name) == ".svg" || path.Ext(name) == ".html" {
		return fmt.Sprintf("%d lines, sha256 %.12x", lines, sha256.Sum256([]byte(text)))
	}
	return "\n" + indent(text)
}

// pixels are the bytes red, green, blue and alpha of each pixel, row by row.
func pixels(img image.Image) []byte {
	if p, ok := img.(*image.Paletted); ok { // most pictures; draw looks each pixel up
		colors := make([][4]byte, len(p.Palette))
		for i, c := range p.Palette {
			r, g, b, a := c.RGBA()
			colors[i] = [4]byte{byte(r >> 8), byte(g >> 8), byte(b >> 8), byte(a >> 8)}
		}
		out := make([]byte, 0, 4*len(p.Pix))
		for _, i := range p.Pix { // a decoded picture has no gap between rows
			out = append(out, colors[i][:]...)
		}
		return out
	}
	out := image.NewRGBA(img.Bounds())
	draw.Draw(out, out.Rect, img, out.Rect.Min, draw.Src)
	return out.Pix
}

// indent puts two blanks before each line that is not empty.
func indent(text string) string {
	return lineStart.ReplaceAllString(strings.TrimSuffix(text, "\n"), "  $1")
}

var lineStart = regexp.MustCompile(`(?m)^(.)`)

// width is the length up to which a value of a document stays on one line.
const width = 120

// document lays a JSON document out with short values on one line; longer lists
// of plain values are a digest. The order of keys and the digits stay.
func document(b []byte) string {
	var v json.RawMessage
	if err := json.Unmarshal(b, &v); err != nil {
		return string(b) // not JSON: as it is
	}
	var out strings.Builder
	lay(&out, v, "")
	return out.String()
}

func lay(out *strings.Builder, v json.RawMessage, indent string) {
	var flat bytes.Buffer
	if err := json.Compact(&flat, v); err != nil {
		panic(err) // v is part of a valid document
	}
	line := spaced(flat.String())
	if len(line) <= width || line[0] != '{' && line[0] != '[' {
		out.WriteString(line)
		return
	}
	if line[0] == '[' && !strings.ContainsAny(line[1:], "[{") {
		fmt.Fprintf(out, "[%d values, sha256 %.12x]", strings.Count(line, ", ")+1, sha256.Sum256(flat.Bytes()))
		return
	}
	dec := json.NewDecoder(&flat)
	open, _ := dec.Token()
	sep, inner := "\n", indent+"  "
	fmt.Fprint(out, open)
	for dec.More() {
		out.WriteString(sep + inner)
		sep = ",\n"
		if open == json.Delim('{') {
			key, _ := dec.Token()
			fmt.Fprintf(out, "%q: ", key)
		}
		var item json.RawMessage
		if err := dec.Decode(&item); err != nil {
			panic(err)
		}
		lay(out, item, inner)
	}
	end, _ := dec.Token()
	fmt.Fprintf(out, "\n%s%v", indent, end)
}

// spaced puts a blank behind each comma and colon outside strings.
func spaced(compact string) string {
	var b strings.Builder
	quoted := false
	for i := 0; i < len(compact); i++ {
		c := compact[i]
		b.WriteByte(c)
		switch {
		case quoted && c == '\\':
			i++
			b.WriteByte(compact[i])
		case c == '"':
			quoted = !quoted
		case !quoted && (c == ',' || c == ':'):
			b.WriteByte(' ')
		}
	}
	return b.String()
}
