package record

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// KeptError refuses to replace a result by one that does not cover it.
type KeptError struct {
	Path string
	Lost []string // what the new result would not have
	Own  string   // the name under which this version keeps such a result, if another
}

// Error says what would be lost.
func (e *KeptError) Error() string {
	msg := fmt.Sprintf("replacing %s would lose: %s", e.Path, strings.Join(e.Lost, "; "))
	if e.Own != "" {
		msg += fmt.Sprintf(" (its name is that of another result; rename it to %s to keep it)", e.Own)
	}
	return msg
}

// Result is a document by whose rule an older one of its kind is replaced.
type Result[T any] interface {
	Document
	// From is what the result was computed from.
	From() Source
	// Covers says what there has and this one, of the same weights and images, would
	// not; nil if nothing. It may be called before the work, on a document that holds
	// what the rule needs alone.
	Covers(there T) []string
}

// ReadKept reads the document that a new one would replace; nil where there is no file.
// One that cannot be read, of another schema or damaged, is a *KeptError: nobody can say
// what replacing it loses.
func ReadKept[T Document](path string) (*T, error) {
	d, err := ReadIfThere[T](path)
	var schema *SchemaError
	var format *FormatError
	switch {
	case err == nil:
		return d, nil
	case errors.As(err, &schema):
		return nil, &KeptError{Path: path, Lost: []string{fmt.Sprintf("a document of schema %q; this version reads %s", schema.Got, schema.Want)}}
	case errors.As(err, &format):
		return nil, &KeptError{Path: path, Lost: []string{"a file that cannot be read: " + format.Msg}}
	}
	return nil, &KeptError{Path: path, Lost: []string{"a file that cannot be read: " + strings.TrimPrefix(err.Error(), path+": ")}}
}

// KeepFiles refuses, with a *KeptError, to replace the document of files at path by now:
// both have to be of the same content, and now has to cover it.
func KeepFiles[T Result[T]](path string, now T) error {
	d, err := ReadKept[T](path)
	if d == nil {
		return err
	}
	there, is, lost := (*d).From(), now.From(), now.Covers(*d)
	switch {
	case there.Run != "", (there.Graph == "") != (is.Graph == ""):
		lost = []string{"the result of " + there.Of()}
	case there.Fingerprint != is.Fingerprint && there.files() == is.files():
		lost = []string{"the result of " + there.Of() + " as it was: the files have changed since"}
	case there.Fingerprint != is.Fingerprint:
		lost = []string{fmt.Sprintf("the result of %s, whose content is another than that of %s", there.files(), is.files())}
	case is.Graph != "" && there.Labels != "": // which its fingerprint leaves out
		lost = append(lost, otherThan(there.Labels, setting("labels", is.Labels), "labels")...)
	}
	if len(lost) == 0 {
		return nil
	}
	return &KeptError{Path: path, Lost: lost}
}

// widen makes asked what there is, where that has all of asked, in any order.
func widen[E comparable](asked *[]E, had []E) {
	for _, v := range *asked {
		if !slices.Contains(had, v) {
			return
		}
	}
	*asked = had
}

// SameJSON says that a and b have the same JSON.
func SameJSON(a, b any) bool {
	x, errX := json.Marshal(a)
	y, errY := json.Marshal(b)
	return errX == nil && errY == nil && bytes.Equal(x, y)
}
