package config

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"

	"tercet/internal/option"
)

// source is what a config was built from.
type source struct {
	tree      *node // of all files, included ones below
	overrides []Override
	origins   map[string]origin // of each key that is not a default
	old       []string          // notices of keys under former names
}

func (s *source) origin(key string) origin {
	if s == nil {
		return origin{}
	}
	return s.origins[key]
}

// Override is one value that stands above the files.
type Override struct {
	Key   string // dotted path
	Value string // YAML on one line
	From  string // what to call it in errors and origins: the name of an option, as option.Name has it
	line  int    // for values of a sweep, which stand in a file
}

// Load reads the config at path, lays the files that it includes below it and
// the overrides ("section.key=value") above it, and checks everything. An empty
// path stands for the defaults. Errors are of type *Error, joined where there
// are several.
func Load(path string, sets []string) (*Config, error) {
	over, err := ParseSets(sets)
	if err != nil {
		return nil, err
	}
	return LoadWith(path, over)
}

// LoadWith is Load with overrides that come from several places; later ones win.
func LoadWith(path string, over []Override) (*Config, error) {
	if path == "" {
		return complete(nil, over)
	}
	data, err := readFile(path, path, false)
	if err != nil {
		return nil, err
	}
	return loadBytes(data, path, over)
}

// LoadBytes is Load of a config in memory; file is its name in errors, and
// include paths are relative to its folder.
func LoadBytes(data []byte, file string, sets []string) (*Config, error) {
	over, err := ParseSets(sets)
	if err != nil {
		return nil, err
	}
	return loadBytes(data, file, over)
}

func loadBytes(data []byte, file string, over []Override) (*Config, error) {
	r := reader{}
	tree, err := r.layers(data, file)
	if err != nil {
		return nil, err
	}
	return complete(tree, over)
}

// complete builds a config and tries the values of its sweep.
func complete(tree *node, over []Override) (*Config, error) {
	c, errs := assemble(tree, over)
	if c != nil {
		errs = append(errs, c.axisMistakes(errs)...)
		errs = append(errs, c.searchMistakes(errs)...)
	}
	if len(errs) > 0 {
		return nil, join(errs)
	}
	return c, nil
}

// ParseSets splits "section.key=value" texts.
func ParseSets(sets []string) ([]Override, error) {
	var out []Override
	var bad []*Error
	for _, s := range sets {
		key, value, ok := strings.Cut(s, "=")
		key = strings.TrimSpace(key)
		switch {
		case !ok || key == "":
			bad = append(bad, &Error{File: option.Name("set"), Msg: fmt.Sprintf("%q is not of the form section.key=value", s)})
		case strings.HasPrefix(key, ".") || strings.HasSuffix(key, ".") || strings.Contains(key, ".."):
			bad = append(bad, &Error{File: option.Name("set"), Key: key, Msg: "a key has an empty section or name; write section.key=value"})
		default:
			out = append(out, Override{Key: key, Value: value, From: option.Name("set")})
		}
	}
	return out, join(bad)
}

// readFile reads a config; what is wrong with it is put at from (the include
// line) or at the file itself.
func readFile(path, name string, regular bool) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		if os.IsNotExist(err) {
			return nil, &Error{File: name, Msg: "no such config file"}
		}
		return nil, &Error{File: name, Msg: "cannot be read: " + err.Error()}
	}
	if info.IsDir() {
		return nil, &Error{File: name, Msg: "is a folder; name a YAML file"}
	}
	if regular && !info.Mode().IsRegular() {
		return nil, &Error{File: name, Msg: "is not a regular file; only those can be included"}
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, &Error{File: name, Msg: "cannot be read: " + err.Error()}
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, MaxBytes+1))
	if err != nil {
		return nil, &Error{File: name, Msg: "cannot be read: " + err.Error()}
	}
	return data, nil
}

// maxFiles bounds the files of one config, so that files which include each
// other twice over cannot take for ever.
const maxFiles = 100

// reader reads a file and those that it includes.
type reader struct {
	chain []string // absolute paths from the outermost file down
	shown []string // the same as the user wrote them
	files int
}

func (r *reader) layers(data []byte, file string) (*node, error) {
	if r.files++; r.files > maxFiles {
		return nil, &Error{File: file, Msg: fmt.Sprintf("is the %dth file that this config includes; the limit is %d", r.files, maxFiles)}
	}
	tree, err := parse(origin{file: file}, data)
	if err != nil {
		return nil, err
	}
	if tree == nil {
		return nil, &Error{File: file, Msg: emptyMsg}
	}
	if tree.kind != mapping {
		return nil, tree.at.errorf("", fmt.Sprintf("a config is a section of keys such as \"name: x\", not %s", tree.what()))
	}
	list := tree.get("include")
	if list == nil {
		return tree, nil
	}
	r.chain, r.shown = append(r.chain, absolute(file)), append(r.shown, file)
	below, err := r.included(list, file)
	if err != nil {
		return nil, err
	}
	r.chain, r.shown = r.chain[:len(r.chain)-1], r.shown[:len(r.shown)-1]
	tree = keep(tree, func(key string) bool { return key != "include" })
	return merge(reflect.TypeFor[Config](), below, tree, true), nil
}

func (r *reader) included(list *node, file string) (*node, error) {
	items := list.items
	if list.kind == scalar && !list.null {
		items = []*node{list}
	}
	if list.kind == mapping || list.null {
		return nil, list.at.errorf("include", fmt.Sprintf("must be a list of files, got %s", list.what()))
	}
	var below *node
	for _, item := range items {
		if item.kind != scalar || item.null || item.text == "" {
			return nil, item.at.errorf("include", fmt.Sprintf("must be a file name, got %s", item.what()))
		}
		path := item.text
		if !filepath.IsAbs(path) {
			path = filepath.Join(filepath.Dir(file), path)
		}
		for i, open := range r.chain {
			if open == absolute(path) {
				return nil, item.at.errorf("include", "includes go in a circle: "+
					strings.Join(append(append([]string(nil), r.shown[i:]...), path), " -> "))
			}
		}
		data, err := readFile(path, path, true)
		if err != nil {
			e := err.(*Error)
			return nil, item.at.errorf("include", e.File+": "+e.Msg)
		}
		layer, err := r.layers(data, path)
		if err != nil {
			return nil, err
		}
		below = merge(reflect.TypeFor[Config](), below, layer, true)
	}
	return below, nil
}

func absolute(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		path = abs
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	return path
}

// build makes the config of a tree and the overrides above it.
func build(tree *node, over []Override) (*Config, error) {
	c, errs := assemble(tree, over)
	if len(errs) > 0 {
		return nil, join(errs)
	}
	return c, nil
}

// assemble is build, and returns the config also where it has mistakes, unless an
// override cannot be read.
func assemble(tree *node, over []Override) (*Config, []*Error) {
	top := reflect.TypeFor[Config]()
	all := tree
	var layer *node
	for _, o := range over {
		n, err := o.node()
		if err != nil {
			return nil, []*Error{err}
		}
		layer = merge(top, layer, n, false)
	}
	if layer != nil {
		all = merge(top, all, layer, true)
	}
	d := decoder{origins: map[string]origin{}, bad: map[string]bool{}}
	c := common()
	c.src = &source{tree: tree, overrides: over, origins: d.origins}
	d.section(reflect.ValueOf(c).Elem(), all, "")
	c.src.old = d.old
	c.check(d.bad, func(e *Error) { d.errs = append(d.errs, e) })
	return c, d.errs
}

// node is the override as a tree of one path.
func (o Override) node() (*node, *Error) {
	at := origin{o.From, o.line}
	n, err := read(at, []byte(o.Value), true)
	if err != nil {
		e := err.(*Error)
		e.Key = strings.TrimSuffix(o.Key+"."+e.Key, ".")
		return nil, e
	}
	if n == nil { // "key=" is the empty text
		n = &node{at: at}
	}
	parts := strings.Split(o.Key, ".")
	if parts[0] == "sweep" && len(parts) > 2 {
		parts = []string{"sweep", strings.Join(parts[1:], ".")}
	}
	if len(parts) > 3 && parts[0] == "search" && parts[1] == "space" {
		parts = []string{"search", "space", strings.Join(parts[2:], ".")}
	}
	for i := len(parts) - 1; i >= 0; i-- {
		n = &node{kind: mapping, at: at, keys: []entry{{parts[i], at, n}}}
	}
	return n, nil
}
