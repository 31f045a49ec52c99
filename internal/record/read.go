package record

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"

	"tercet/internal/archive"
	"tercet/internal/fsx"
)

// Document is a JSON document that is kept in a file; its types are those of this
// package.
type Document interface{ kind() kind }

// kind is what reading and writing know of a document.
type kind struct {
	schemas []string // that are read, the present one first
	max     int64    // bytes; 0 for MaxDocument
	made    string   // the command that makes it
	beyond  []string // keys that are beyond a summary: most of a document that has them
}

// MaxDocument bounds a document: labels of ten million items fit.
const MaxDocument = 256 << 20

// SchemaError says that a file is of another schema than is read.
type SchemaError struct {
	Path, Got string
	Want      string // the present one
	Made      string // the command that makes the file, where it only is of another number
}

func (e *SchemaError) Error() string {
	msg := fmt.Sprintf("%s: schema is %q; this version reads %s", e.Path, e.Got, e.Want)
	if e.Made != "" {
		msg += fmt.Sprintf("; `tercet %s` makes the file again", e.Made)
	}
	return msg
}

// FormatError says that a file is no document of its schema.
type FormatError struct {
	Path string
	Line int // 0 where it is not known
	Msg  string
}

const empty = "is empty"

func (e *FormatError) Error() string {
	switch {
	case e.Msg == empty:
		return e.Path + " " + e.Msg
	case e.Line == 0:
		return e.Path + ": " + e.Msg
	}
	return fmt.Sprintf("%s:%d: %s", e.Path, e.Line, e.Msg)
}

// Read reads the document at path. An unknown key is an error, so that a key of another
// name is not read as 0.
//
// Errors: os.ErrNotExist, a *SchemaError, a *FormatError, ErrDigest, and what cannot be
// read; all name the file.
func Read[T Document](path string) (*T, error) {
	d := new(T)
	k := (*d).kind()
	k.beyond = nil
	if err := read(path, d, k, true); err != nil {
		return nil, err
	}
	return d, nil
}

// ReadSummary is Read without the values of each query, class or item and without baselines,
// which takes a fraction of the time. The digest is compared with the whole document. One
// without a digest is read as a whole: nothing else says that the rest is no error.
func ReadSummary[T Document](path string) (*T, error) {
	d := new(T)
	if err := read(path, d, (*d).kind(), true); err != nil {
		return nil, err
	}
	return d, nil
}

// ReadAs reads the document at path, of one of the schemas, into v, which takes what it
// knows of it: for readers of documents of any kind by their keys' names. Errors are those
// of Read, but for unknown keys.
func ReadAs(path string, v any, schemas ...string) error {
	k := kind{schemas: schemas}
	for _, d := range kept {
		if slices.Contains(d.kind().schemas, schemas[0]) {
			k.max, k.made = d.kind().max, d.kind().made
		}
	}
	return read(path, v, k, false)
}

// kept are the documents that are kept in files.
var kept = []Document{
	Manifest{}, Embed{}, Eval{}, Attack{}, AttackPart{}, Curve{}, Worst{}, Certify{}, Cluster{}, Pairs{}, NoiseRate{}, Gap{}, Stability{}, OnAverage{}, Influence{}, MetricStability{}, Partition{},
}

// schemaFirst matches the schema where it is the first key, as in all that Write writes.
var schemaFirst = regexp.MustCompile(`^\s*\{\s*"schema"\s*:\s*"([^"\\]*)"`)

func read(path string, v any, k kind, strict bool) error {
	b, err := archive.ReadFile(path, cmp.Or(k.max, MaxDocument))
	if err != nil {
		return err
	}
	// The usual case, without a reading of all that only says whether it is JSON. Any other
	// document, and any error, is looked at more closely below.
	if first := schemaFirst.FindSubmatch(b); first != nil && slices.Contains(k.schemas, string(first[1])) {
		content, err := opened(b)
		if content == nil {
			content = b
		} else {
			content = without(content, k.beyond)
		}
		if err == nil && decode(content, v, strict) == nil {
			return nil
		}
	}
	err = Check(b)
	if errors.Is(err, ErrDigest) {
		return fmt.Errorf("%s: %w", path, err)
	}
	var head struct {
		Schema string `json:"schema"`
	}
	if first := schemaFirst.FindSubmatch(b); err == nil && first != nil {
		head.Schema = string(first[1])
	} else if err := json.Unmarshal(b, &head); err != nil {
		return formatError(path, b, err)
	}
	if !slices.Contains(k.schemas, head.Schema) {
		e := &SchemaError{Path: path, Got: head.Schema, Want: k.schemas[0]}
		if name, _, _ := strings.Cut(e.Want, "/"); strings.HasPrefix(e.Got, name+"/") {
			e.Made = k.made
		}
		return e
	}
	if err := decode(unsealed(b), v, strict); err != nil {
		return formatError(path, b, err)
	}
	return nil
}

// decode reads the document b, and nothing after it, into v.
func decode(b []byte, v any, strict bool) error {
	dec := json.NewDecoder(bytes.NewReader(b))
	if strict {
		dec.DisallowUnknownFields()
	}
	if err := dec.Decode(v); err != nil {
		return err
	}
	if len(bytes.TrimSpace(b[dec.InputOffset():])) > 0 {
		return errors.New("text follows the document")
	}
	return nil
}

// ReadIfThere is Read that returns nil for a file that does not exist.
func ReadIfThere[T Document](path string) (*T, error) {
	d, err := Read[T](path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	return d, err
}

// formatError says where in the text b of a file reading ended.
func formatError(path string, b []byte, err error) error {
	var at int64 = -1
	var syntax *json.SyntaxError
	var typ *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		at = syntax.Offset
	case errors.As(err, &typ) && typ.Offset <= int64(len(b)):
		at = typ.Offset
	}
	switch {
	case len(bytes.TrimSpace(b)) == 0:
		return &FormatError{Path: path, Msg: empty}
	case at < 0 && !strings.Contains(err.Error(), "unknown field"):
		return &FormatError{Path: path, Msg: err.Error()}
	case at < 0:
		return &FormatError{Path: path, Msg: Words(err)}
	}
	line := 1 + bytes.Count(b[:min(at, int64(len(b)))], []byte("\n"))
	return &FormatError{Path: path, Line: line, Msg: "not valid JSON of a run: " + Words(err)}
}

// Write writes v, an object, indented and with its digest, by way of a temporary file.
// It writes all JSON documents.
func Write(path string, v any) error {
	b, err := json.Marshal(v)
	if err == nil {
		b, err = Seal(b)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return fsx.WriteFile(path, b, 0o644)
}

// Words says in the words of a user what is wrong with a JSON text.
func Words(err error) string {
	var kind *json.UnmarshalTypeError
	var syntax *json.SyntaxError
	switch {
	case errors.As(err, &kind) && kind.Field != "":
		return fmt.Sprintf("%s is %s, which is of the wrong kind", kind.Field, article(kind.Value))
	case errors.As(err, &kind):
		return fmt.Sprintf("%s is of the wrong kind", article(kind.Value))
	case errors.As(err, &syntax):
		return fmt.Sprintf("not valid JSON near byte %d", syntax.Offset)
	case strings.Contains(err.Error(), "unknown field"):
		return strings.Replace(err.Error(), "json: unknown field", "unknown key", 1)
	}
	return "not valid JSON: it ends early"
}

// article puts a or an before the name of a kind.
func article(kind string) string {
	if kind != "" && strings.Contains("aeiou", kind[:1]) {
		return "an " + kind
	}
	return "a " + kind
}
