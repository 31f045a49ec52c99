package config

import (
	"strings"
	"testing"
)

// The variant of a defense is its implementation today: files, overrides and sweeps
// with the old words give the same config as with the new ones.
func TestOldNamesOfKeys(t *testing.T) {
	t.Parallel()
	now, err := LoadBytes([]byte("defense: {name: act, implementation: robrank, pgd: {steps: 3}}\n"), "x.yaml", nil)
	if err != nil {
		t.Fatal(err)
	}
	for text, set := range map[string][]string{
		"defense: {name: act, variant: published, pgd: {steps: 3}}\n":    nil,
		"defense: {name: act, variant: paper, pgd: {steps: 3}}\n":        {"defense.variant=published"},
		"defense: {name: act, implementation: paper, pgd: {steps: 3}}\n": {"defense.variant=published"},
		"defense: {name: act, variant: paper, pgd: {steps: 3} }\n":       {"defense.implementation=robrank"},
		"defense: {name: est, variant: published, pgd: {steps: 3}}\n":    {"defense={name: act, variant: published, pgd: {steps: 3}}"},
	} {
		c, err := LoadBytes([]byte(text), "x.yaml", set)
		if err != nil {
			t.Errorf("%s %v: %v", text, set, err)
			continue
		}
		if c.Hash() != now.Hash() {
			t.Errorf("%s %v: another config:\n%+v", text, set, c.Defense)
		}
	}
	c, err := LoadBytes([]byte("defense: {name: est}\nsweep: {defense.variant: [paper, published]}\n"), "x.yaml", nil)
	if err != nil {
		t.Fatal(err)
	}
	all, err := c.Sweep()
	if err != nil || len(all) != 2 || all[1].Name != "variant-published" {
		t.Fatalf("%+v %v", all, err)
	}
	v, err := c.Variant(all[1])
	if err != nil {
		t.Fatal(err)
	}
	if text, _ := v.Resolved(); !strings.Contains(string(text), "implementation: robrank\n") || strings.Contains(string(text), "variant:") {
		t.Errorf("the run of the sweep has\n%s", text)
	}
	for text, want := range map[string]string{
		"defense: {name: est, variant: publish}\n":                        `defense.implementation: unknown value "publish"`,
		"defense: {name: est, variant: paper, implementation: robrank}\n": `defense.variant: unknown key`,
		"defense: {name: none, variant: paper}\n":                         `does not have this key`,
	} {
		if _, err := LoadBytes([]byte(text), "x.yaml", nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}
