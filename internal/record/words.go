package record

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

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
