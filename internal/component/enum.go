package component

import (
	"reflect"
	"strings"
)

// enums are lists of words by name, for tags such as enum:"@miners".
var enums = map[string]func() []string{}

// Enumerate names a list of words that is known only when all components are registered.
func Enumerate(name string, words func() []string) { enums[name] = words }

// Words returns the words that a key takes by its tag enum: those in it, or those of the
// list that it names; nil where it has none.
func Words(tag reflect.StructTag) []string {
	words := tag.Get("enum")
	if name, ok := strings.CutPrefix(words, "@"); ok {
		return enums[name]()
	}
	if words == "" {
		return nil
	}
	return strings.Split(words, "|")
}
