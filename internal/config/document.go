package config

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v4"
)

// ReadDocument reads one YAML document that is not a config, such as the
// description of a table, into the struct that into points to. It is as strict as
// with configs: a key that the struct does not have, or that stands twice, is an
// error with its line. file is the name in errors.
func ReadDocument(data []byte, file string, into any) error {
	at := origin{file: file}
	switch tree, err := parse(at, data); {
	case err != nil:
		return err
	case tree == nil:
		return at.errorf("", "is empty")
	}
	err := loadInto(data, into)
	if err == nil {
		return nil
	}
	lines := 1 + strings.Count(string(data), "\n")
	var several *yaml.LoadErrors
	if !errors.As(err, &several) {
		return yamlError(at, err, false, lines)
	}
	var out []*Error
	for _, e := range several.Errors {
		place := at
		place.line = min(int(e.Mark.Line), lines)
		msg := unknownField.ReplaceAllString(e.Message, "unknown key \"$1\"")
		out = append(out, place.errorf("", wrongKind.ReplaceAllString(msg, "a value of kind $1$2 does not fit here")))
	}
	return join(out)
}

// What the library says names Go types.
var (
	unknownField = regexp.MustCompile(`^field (.*) not found in type .*$`)
	wrongKind    = regexp.MustCompile(`^cannot construct !!(\w+)(.*) into .*$`)
)

// loadInto turns a panic of the YAML library into an error, as load does.
func loadInto(data []byte, into any) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("the YAML reader gave up: %v", r)
		}
	}()
	return yaml.Load(data, into, yaml.WithKnownFields(), yaml.WithUniqueKeys())
}
