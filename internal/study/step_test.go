package study

import (
	"os"
	"strings"
	"testing"
)

// docs/studies.md lists what columns and reductions may be.
func TestDocumentedNames(t *testing.T) {
	text, err := os.ReadFile("../../docs/studies.md")
	if err != nil {
		t.Fatal(err)
	}
	for name := range formats {
		if !strings.Contains(string(text), "`"+name+"`") && name != "text" {
			t.Errorf("the format %s is not documented", name)
		}
	}
	for name := range reducers {
		if !strings.Contains(string(text), "`"+name+"`") {
			t.Errorf("the reducer %s is not documented", name)
		}
	}
}

func TestStepErrors(t *testing.T) {
	for text, want := range map[string]string{
		"run: [{about: x}]":                                                         "a step needs a name",
		"run: [{name: ../a}]":                                                       "a name has no slash",
		"run: [{name: a, configs: [' ']}]":                                          "a config is empty",
		"run: [{name: a, tables: ['']}]":                                            "a table is empty",
		"run: [{name: a, finally: ['']}]":                                           "a line of finally is empty",
		"run: [{name: a, then: [{run: ' '}]}]":                                      "a command needs run",
		"run: [{name: a, then: [{run: 'eval {rnu}'}]}]":                             "{rnu} stands for nothing",
		"run: [{name: a, set: ['loss={b}']}]":                                       "{b} stands for nothing",
		"run: [{name: a}, {name: a}]":                                               "two steps a",
		"run: [{name: a, with: [b]}]":                                               "with names no step",
		"run: [{name: a, chosen: b}]":                                               "name it with like",
		"run: [{name: a, like: b}, {name: b}]":                                      "like names no step above",
		"run: [{name: b}, {name: a, like: b, configs: [x]}]":                        "give like or configs",
		"run: [{name: b}, {name: a, like: b, chosen: c}]":                           "chosen names no table",
		"run: [{name: b}, {name: a, like: b, override: ['x={run2}']}]":              "{run2} stands for nothing",
		"run: [{name: c}, {name: b, like: c, override: [x=1]}, {name: a, like: b}]": "has override or chosen itself",
		"run: [{name: a, then: [{}]}]":                                              "a command needs run",
		"run: [{name: a, thn: [{}]}]":                                               "x.yaml:2",
		"run: [{name: a, then: [{run: eval, where: {loss: x}}]}]":                   "where takes config.KEY",
		"run: [{name: a, then: [{run: eval, for: {a: [x], b: [y]}}]}]":              "for has one name",
	} {
		if _, err := Read([]byte("title: x\n"+text+"\n"), "x.yaml", "x"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}
