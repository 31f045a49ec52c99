package config

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const protocols = "../../configs/protocols/"

// What each protocol does to images, its network, batch and optimizer, as the code of its
// authors has it (reference, sections 2.1 to 2.5). Each line is compared as text with what
// a preset resolves to.
var protocolFacts = map[string][]string{
	"zhou-patel": {
		`train: ["Resize((256, 256))", "RandomCrop(224)", RandomHorizontalFlip]`, `test: ["Resize((256, 256))", "CenterCrop(224)"]`,
		"model resnet18, embedding 512, normalized true", "rows 112", "adam, lr 1e-05, decay 0.0004 of all true", "batchnorm frozen", "epochs 75", "seeds 3",
	},
	"roth": {
		`train: ["RandomResizedCrop(224)", RandomHorizontalFlip]`, `test: ["Resize(256)", "CenterCrop(224)"]`,
		"model resnet50, embedding 128, normalized true", "rows 112", "adam, lr 1e-05, decay 0.0004 of all true", "batchnorm frozen", "epochs 150", "seeds 5",
	},
	"musgrave": {
		`train: ["Resize(256)", "RandomResizedCrop(227, scale=(0.16, 1), ratio=(0.75, 1.33))", RandomHorizontalFlip]`, `test: ["Resize(256)", "CenterCrop(227)"]`,
		"model resnet18, embedding 128, normalized true", "rows 32", "adam, lr 1e-06, decay 0.0001 of all true", "batchnorm frozen", "epochs 1000", "seeds 4",
	},
	"proxy-anchor": {
		`train: ["RandomResizedCrop(224)", RandomHorizontalFlip]`, `test: ["Resize(256)", "CenterCrop(224)"]`,
		"model resnet50, embedding 512, normalized true", "rows 120", "adamw, lr 0.0001, decay 0.0001 of all true", "batchnorm frozen", "epochs 60", "seeds 3",
		"pool: avg+max", "clip_value: 10", "head_only: 5 epochs", "gamma: 0.5",
	},
	"oml": {
		`train: ["RandomResizedCrop(224, scale=(0.2, 1), interpolation=bicubic)", RandomHorizontalFlip]`, `test: ["Resize(256, interpolation=bicubic)", "CenterCrop(224)"]`,
		"model resnet50, embedding 384", "batchnorm frozen", "epochs 30", "seeds 3",
	},
}

// The ks of each dataset, and what differs from its protocol.
var presetFacts = map[string][]string{
	"cub": {"ks: [1, 2, 4, 8]"}, "cars": {"ks: [1, 2, 4, 8]"}, "sop": {"ks: [1, 10, 100, 1000]"}, "inshop": {"ks: [1, 10, 20, 30, 40]"},
	"zhou-patel/cub": {"ks: [1, 2]"}, "zhou-patel/cars": {"ks: [1, 2]"}, "zhou-patel/sop": {"ks: [1, 2]"},
	"musgrave/cub": {"ks: [1]", "patience: 9"}, "musgrave/cars": {"ks: [1]", "patience: 14"}, "musgrave/sop": {"ks: [1]", "patience: 39"},
	"roth/sop":   {"ks: [1, 10, 100, 1000]", "epochs 100"},
	"oml/sop":    {"ks: [1, 10, 100, 1000]", "rows 192", "margin: 0.15", "adam, lr 1e-05, decay 0 of all false", "normalized true"},
	"oml/inshop": {"ks: [1, 10, 20, 30, 40]", "rows 120", "form: soft", "adamw, lr 1e-05, decay 0.01 of all false", "normalized false"},
}

func TestProtocols(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(protocols + "*/*.yaml")
	if err != nil || len(files) < 20 {
		t.Fatalf("%d presets, %v", len(files), err)
	}
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		text := string(b)
		protocol, name := filepath.Base(filepath.Dir(file)), strings.TrimSuffix(filepath.Base(file), ".yaml")
		if n := strings.Count(text, "\n"); n > 40 {
			t.Errorf("%s has %d lines", file, n)
		}
		if !strings.Contains(text, "# Differs: ") || name != "base" && !strings.Contains(text, "\n# Published: ") {
			t.Errorf("%s does not say what is published and what differs", file)
		}
		if name == "base" {
			continue // no run of its own: without a dataset
		}
		c, err := Load(file, nil)
		if err != nil {
			t.Errorf("%s: %v", file, err)
			continue
		}
		if c.Name != protocol+"-"+name && c.Name != name {
			t.Errorf("%s is called %s", file, c.Name)
		}
		if on := c.Train.EarlyStop.On; on != "validation" {
			t.Errorf("%s stops by %s images", file, on)
		}
		if strings.HasPrefix(name, "frozen") {
			continue
		}
		if c.Data.Name != name {
			t.Errorf("%s has data %s", file, c.Data.Name)
		}
		checkFacts(t, protocol, name, facts(t, c))
	}
}

// facts are the lines that protocolFacts compares with.
func facts(t *testing.T, c *Config) string {
	t.Helper()
	text, err := c.Resolved()
	if err != nil {
		t.Fatal(err)
	}
	runs, err := c.Sweep()
	if err != nil {
		t.Fatal(err)
	}
	rows := 0
	for _, line := range strings.Split(string(text), "\n") {
		var n int
		if _, err := fmt.Sscanf(strings.TrimSpace(line), "pairs: %d", &n); err == nil && rows == 0 {
			rows = 2 * n
		}
		if _, err := fmt.Sscanf(strings.TrimSpace(line), "classes: %d", &n); err == nil && n > 0 {
			rows = n
		}
		if _, err := fmt.Sscanf(strings.TrimSpace(line), "per_class: %d", &n); err == nil {
			rows *= n
		}
	}
	o := c.Optimizer
	return string(text) + fmt.Sprintf("model %s, embedding %d, normalized %v\nrows %d\n%s, lr %g, decay %g of all %v\nbatchnorm %s\nepochs %d\nseeds %d\n",
		c.Model.Name, c.Model.Embedding, c.Model.Normalize, rows, o.Name, o.LR, o.WeightDecay, o.DecayAll, c.Train.BatchNorm, c.Train.Epochs, len(runs))
}

func checkFacts(t *testing.T, protocol, name, got string) {
	t.Helper()
	own := presetFacts[protocol+"/"+name]
	wants := append(own, protocolFacts[protocol]...)
	if len(own) == 0 {
		wants = append(wants, presetFacts[name]...)
	}
	for _, want := range wants {
		if key, _, _ := strings.Cut(want, " "); key == "epochs" && strings.Contains(strings.Join(own, "\n"), "epochs") && want != own[len(own)-1] {
			continue // of the preset, not of the protocol
		}
		if !strings.Contains(got, want) {
			t.Errorf("%s/%s resolves to other than %q:\n%s", protocol, name, want, got)
		}
	}
}
