package config

import (
	"errors"
	"strings"
	"testing"

	"tercet/internal/data/batch"
)

func TestKeysCoverEveryResolvedKey(t *testing.T) {
	listed := map[string]bool{}
	for _, k := range Keys() {
		id := k.Key + " " + strings.Join(k.With, ",")
		if listed[id] {
			t.Errorf("%s is listed twice", id)
		}
		listed[id], listed[k.Key] = true, true
		if k.Doc == "" || k.Default == "" {
			t.Errorf("%+v", k)
		}
	}
	for _, sets := range [][]string{nil, {"data.name=idx", "data.split=class", "data.train.images=x", "data.train.labels=x", "model=mlp", "miner=distance-weighted", "optimizer=sgd", "optimizer.schedule=step", "batch=m-per-class"}} {
		c, err := Load("", sets)
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range c.Origins() {
			if !listed[o.Key] {
				t.Errorf("%s is not listed", o.Key)
			}
		}
	}
}

func TestPresetsOfComponents(t *testing.T) {
	c := mustLoad(t, "optimizer: adamw\nmodel: lenet\n")
	if c.Optimizer.Decay != "decoupled" || c.Optimizer.WeightDecay != 0.01 || c.Model.Embedding != 128 {
		t.Errorf("got %+v %+v", c.Optimizer, c.Model)
	}
	if c := mustLoad(t, "optimizer: {name: sgd, lr: 0.3}\n"); c.Optimizer.LR != 0.3 {
		t.Errorf("a preset beat the file: %+v", c.Optimizer)
	}
	if _, err := LoadBytes([]byte("optimizer: {name: adamw, decay: l2}"), "f.yaml", nil); err == nil || !strings.Contains(err.Error(), "f.yaml:1: optimizer.decay: adamw is Adam with decoupled decay") {
		t.Errorf("got %v", err)
	}
}

func TestValidateSeesChangesInCode(t *testing.T) {
	c := mustLoad(t, "name: x\nbatch: {pairs: 3}\n")
	c.Batch.Options = batch.ClassPairs{Pairs: 0}
	c.Eval.Batch = -1
	err := c.Validate()
	var e *Error
	if !errors.As(err, &e) || e.File != "f.yaml" || e.Line != 2 || e.Key != "batch.pairs" {
		t.Errorf("got %v", err)
	}
	if !strings.Contains(err.Error(), "eval.batch: must be >=1 and <=1000000, is -1") {
		t.Errorf("the second mistake is missing: %v", err)
	}
}
