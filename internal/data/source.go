package data

import (
	"context"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"tercet/internal/component"
)

// Family is the sources of data that a config can name. A source registers itself in
// its file.
var Family = component.NewFamily[Source]("glyphs", "mnist", "cifar10", "folder", "idx", "npy")

// Source are the keys of a source of data, and what the rest of the program asks about
// it. What only some sources can answer are the interfaces below.
type Source interface {
	// Open reads the source, until ctx ends. It leaves Split and the limits of o to Open, and returns a
	// nil test (not a nil pointer in it) where the source has none.
	Open(ctx context.Context, o Options) (train, test Dataset, err error)
	Traits() Traits
}

// Traits describe a source.
type Traits struct {
	About string // one line for people
	Needs string // what must be there
	// Vectors says that items are no images, Drawn that images are drawn at the size
	// that is asked for.
	Vectors, Drawn bool
}

// Titled is implemented by sources of which one kind reads different data.
type Titled interface {
	// Title returns what people call the data, "" for the source's name.
	Title() string
}

// Needy is implemented by sources that require some keys.
type Needy interface {
	// Missing returns the keys that must be set and are not, with what they are.
	// fileSplit says that the source's own test set is asked for.
	Missing(fileSplit bool) []component.Fault
}

// Passing is implemented by sources that skip some files.
type Passing interface {
	// LeftOut says which; "" for none.
	LeftOut(o Options) string
}

// Sources returns all sources, by name.
func Sources() []component.Component[Source] {
	out := Family.All()
	slices.SortFunc(out, func(a, b component.Component[Source]) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// nameOf is the name under which options of s's type are registered.
func nameOf(s Source) string {
	for _, c := range Family.All() {
		if reflect.TypeOf(c.Defaults) == reflect.TypeOf(s) {
			return c.Name
		}
	}
	return fmt.Sprintf("%T", s)
}

// Unset returns the fault of a key that must be set, if it is not.
func Unset(key, value, what string) []component.Fault {
	if value != "" {
		return nil
	}
	return []component.Fault{{Key: key, Msg: what}}
}

// NoRoot is Missing of sources that are a folder.
func NoRoot(root string) []component.Fault { return Unset("root", root, "the folder of the data") }

// Under joins a file name to a root.
func Under(root, name string) string {
	if name == "" || filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(root, name)
}

// Root returns the folder that a source reads, "" where it has none.
func Root(s Source) string {
	if f := reflect.ValueOf(s).FieldByName("Root"); f.IsValid() && f.Kind() == reflect.String {
		return f.String()
	}
	return ""
}

// At returns a source that has a root, with another one.
func At(s Source, root string) Source {
	v := reflect.New(reflect.TypeOf(s)).Elem()
	v.Set(reflect.ValueOf(s))
	v.FieldByName("Root").SetString(root)
	return v.Interface().(Source)
}

// Filed is implemented by sources that may be files without a root.
type Filed interface {
	// Files returns their names as the config gives them, "" for those not given.
	Files() []string
}

// Relative says whether a source reads files by paths from the current directory.
func Relative(s Source) bool {
	if root := Root(s); root != "" {
		return !filepath.IsAbs(root)
	}
	f, ok := s.(Filed)
	return ok && slices.ContainsFunc(f.Files(), func(name string) bool { return name != "" && !filepath.IsAbs(name) })
}
