package config

import (
	"errors"
	"fmt"
	"strings"

	"go.yaml.in/yaml/v4"
)

type kind uint8

const (
	scalar kind = iota
	mapping
	sequence
)

// node is a YAML value with aliases expanded and every part's origin.
type node struct {
	kind  kind
	text  string // of a scalar
	plain bool   // a scalar without quotes
	null  bool
	at    origin
	keys  []entry
	items []*node

	cleared bool // a sweep that replaces those of the layers below

	was string // the former name under which the config has its key
}

type entry struct {
	key string
	at  origin
	val *node
}

func (n *node) get(key string) *node {
	for _, e := range n.keys {
		if e.key == key {
			return e.val
		}
	}
	return nil
}

func (n *node) what() string {
	switch {
	case n.kind == mapping:
		return "a section of keys"
	case n.kind == sequence && len(n.items) == 0:
		return "an empty list"
	case n.kind == sequence:
		return "a list"
	case n.null:
		return "no value"
	case !n.plain:
		return fmt.Sprintf("the text %q", n.text)
	}
	return fmt.Sprintf("%q", n.text)
}

const (
	// MaxBytes bounds one file.
	MaxBytes = 1 << 20
	maxNodes = 100_000 // after the expansion of aliases
	maxDepth = 64
)

// parse reads one YAML document; nil stands for a document without content.
func parse(at origin, data []byte) (*node, error) { return read(at, data, false) }

// read is parse with a choice: lines of the text count from the file's first,
// or the text stands at one place, as the value of an override does.
func read(at origin, data []byte, fixed bool) (*node, error) {
	if len(data) > MaxBytes {
		return nil, at.errorf("", fmt.Sprintf("is larger than %d bytes, too large for a config", MaxBytes))
	}
	if len(strings.TrimSpace(string(data))) == 0 {
		return nil, nil
	}
	var doc yaml.Node
	if err := load(data, &doc); err != nil {
		return nil, yamlError(at, err, fixed, 1+strings.Count(strings.TrimRight(string(data), "\n"), "\n"))
	}
	if len(doc.Content) == 0 {
		return nil, nil
	}
	b := builder{file: at, fixed: fixed, left: maxNodes}
	return b.build(doc.Content[0], 0)
}

// load turns a panic of the YAML library into an error: the text comes from
// users and must not bring the program down.
func load(data []byte, doc *yaml.Node) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("the YAML reader gave up: %v", r)
		}
	}()
	return yaml.Load(data, doc)
}

// yamlError puts the library's error at its line, at most the text's last.
func yamlError(at origin, err error, fixed bool, lines int) error {
	var le *yaml.LoadError
	if !errors.As(err, &le) {
		return at.errorf("", "not valid YAML: "+err.Error())
	}
	msg := strings.TrimPrefix(le.Message, "yaml: ")
	switch msg {
	case "no documents in stream":
		return at.errorf("", emptyMsg)
	case "expected single document, found multiple":
		return at.errorf("", "holds several YAML documents; a config is one (remove the --- lines)")
	}
	if le.ContextMsg != "" {
		msg = le.ContextMsg
		if !fixed && le.ContextMark.Line > 0 && le.ContextMark.Line != le.Mark.Line {
			msg += fmt.Sprintf(" (begun in line %d)", le.ContextMark.Line)
		}
		msg += ": " + strings.TrimPrefix(le.Message, "yaml: ")
	}
	if !fixed && le.Mark.Line > 0 {
		at.line = min(int(le.Mark.Line), lines)
	}
	return at.errorf("", "not valid YAML: "+msg)
}

const emptyMsg = "is empty; write at least a name, or start from a file of configs/"

type builder struct {
	file  origin
	fixed bool
	left  int // values that may still be made
}

func (b *builder) at(n *yaml.Node) origin {
	if b.fixed {
		return b.file
	}
	return origin{b.file.file, n.Line}
}

func (b *builder) build(y *yaml.Node, depth int) (*node, error) {
	at := b.at(y)
	if b.left--; b.left < 0 || depth > maxDepth {
		return nil, at.errorf("", fmt.Sprintf(
			"aliases or nesting make this too large (limits: %d values, depth %d)", maxNodes, maxDepth))
	}
	n := &node{at: at}
	switch y.Kind {
	case yaml.AliasNode:
		return b.build(y.Alias, depth+1)
	case yaml.ScalarNode:
		if err := knownTag(at, y); err != nil {
			return nil, err
		}
		n.text = y.Value
		n.plain = y.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle|yaml.LiteralStyle|yaml.FoldedStyle|yaml.TaggedStyle) == 0
		n.null = y.ShortTag() == "!!null"
	case yaml.SequenceNode:
		n.kind = sequence
		for _, c := range y.Content {
			item, err := b.build(c, depth+1)
			if err != nil {
				return nil, err
			}
			n.items = append(n.items, item)
		}
	case yaml.MappingNode:
		n.kind = mapping
		if err := b.entries(n, y, depth); err != nil {
			return nil, err
		}
	default:
		return nil, at.errorf("", "holds a kind of YAML value that a config cannot use")
	}
	return n, nil
}

func (b *builder) entries(n *node, y *yaml.Node, depth int) error {
	for i := 0; i+1 < len(y.Content); i += 2 {
		k := y.Content[i]
		at := b.at(k)
		if k.Kind == yaml.AliasNode {
			k = k.Alias
		}
		if k.Kind != yaml.ScalarNode {
			return at.errorf("", "a key must be a word, not a list or a section")
		}
		if k.ShortTag() == "!!merge" {
			return at.errorf("<<", "merge keys are not supported; use include, or an alias as the whole value")
		}
		for _, e := range n.keys {
			if e.key == k.Value {
				return at.errorf(k.Value, fmt.Sprintf("key written twice; the first is at %s", e.at))
			}
		}
		val, err := b.build(y.Content[i+1], depth+1)
		if err != nil {
			return err
		}
		n.keys = append(n.keys, entry{k.Value, at, val})
	}
	return nil
}

func knownTag(at origin, y *yaml.Node) error {
	switch t := y.ShortTag(); t {
	case "!!str", "!!int", "!!float", "!!bool", "!!null", "!!timestamp", "!!merge":
		return nil
	default:
		return at.errorf("", fmt.Sprintf("tag %s has no meaning here; remove it", t))
	}
}
