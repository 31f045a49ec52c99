package config

import (
	"strings"
	"testing"
)

// The struct stands for a document of any kind: a text, a number, a list of texts,
// rows with values of any kind.
type document struct {
	Title string   `yaml:"title"`
	Count int      `yaml:"count"`
	Names []string `yaml:"names"`
	Rows  []struct {
		Match map[string]any `yaml:"match"`
	} `yaml:"rows"`
}

func TestReadDocument(t *testing.T) {
	var d document
	err := ReadDocument([]byte("title: a\ncount: 3\nnames: [x, y]\nrows:\n  - match: {k: [~, 0.2], on: true}\n"), "t.yaml", &d)
	if err != nil {
		t.Fatal(err)
	}
	list, ok := d.Rows[0].Match["k"].([]any)
	if d.Title != "a" || d.Count != 3 || len(d.Names) != 2 || !ok || list[0] != nil || list[1] != 0.2 || d.Rows[0].Match["on"] != true {
		t.Errorf("%+v", d)
	}
}

func TestReadDocumentErrors(t *testing.T) {
	for text, want := range map[string]string{
		"title: a\ntitel: b\n":             `t.yaml:2: unknown key "titel"`,
		"title: a\nrows:\n  - macht: {}\n": `t.yaml:3: unknown key "macht"`,
		"title: a\ntitle: b\n":             "t.yaml:2: ",
		"count: many\n":                    "t.yaml:1: a value of kind str `many` does not fit here",
		"":                                 "t.yaml: is empty",
		"title: [\n":                       "t.yaml:",
		"- a\n":                            "t.yaml:1: ",
	} {
		var d document
		err := ReadDocument([]byte(text), "t.yaml", &d)
		if err == nil || !strings.HasPrefix(err.Error(), want) || strings.Contains(err.Error(), "config.document") {
			t.Errorf("%q: %v", text, err)
		}
	}
}
