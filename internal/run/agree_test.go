package run

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"tercet/internal/component"
	"tercet/internal/config"
	"tercet/internal/data"
	"tercet/internal/data/batch"
	"tercet/internal/engine/loss"
	"tercet/internal/engine/mahalanobis"
	"tercet/internal/record"
	"tercet/internal/record/printed"
	"tercet/internal/train"
	"tercet/internal/wire"
)

// agreeBase is small enough that a step takes milliseconds. Keys that the test draws
// stand above it.
const agreeBase = `
name: agree
data: {name: glyphs, size: 16, glyphs: {classes: 8, per_class: 6, test_classes: 4}}
eval: {baselines: false, bootstrap: 0, pairs: 0}
`

// drawn are the sections that the property test draws, with the key that names their
// component. Lists keep models small: it is about keys, not about networks.
var drawn = []struct {
	section, name string
	only          []string
}{
	{"model", "model.name", []string{"mlp", "linear", "cnn", "lenet", "resnet18"}},
	{"batch", "batch.sampler", nil},
	{"noise", "noise.kind", []string{"none", "sln", "pln", "triplet-flip", "pair-flip"}},
	{"loss", "loss.name", loss.Family.Names()},
	{"miner", "miner.name", nil},
	{"defense", "defense.name", nil},
	{"defense.destination", "defense.destination.name", nil},
	{"optimizer", "optimizer.name", nil},
	{"optimizer.schedule", "optimizer.schedule.name", nil},
}

// What config check accepts trains: components of all families, with keys at and
// around their limits, are loaded, checked, built and run for a step. Data that do not
// fit and numbers that diverge are no matter of the config.
func TestCheckAcceptsWhatTrains(t *testing.T) {
	keys := config.Keys()
	accepted, losses := 0, map[string]bool{}
	rapid.Check(t, func(rt *rapid.T) {
		sets := drawSets(rt, keys)
		cfg, err := config.LoadBytes([]byte(agreeBase), "agree.yaml", sets)
		if err != nil || CheckConfig(cfg) != nil {
			return
		}
		accepted++
		losses[cfg.Loss.Name] = true
		if err := oneStep(cfg); err != nil && !excused(err) {
			rt.Fatalf("--set %s\nis accepted, and training says: %v", strings.Join(sets, " --set "), err)
		}
	})
	t.Logf("%d accepted, losses %v", accepted, losses)
	if accepted < 5 && /* of 100, 22 on average */ !testing.Short() { // -short draws a fifth
		t.Errorf("only %d configs were accepted: the draws say little", accepted)
	}
}

// The same of metrics that are fitted: features are made and the risk is evaluated once,
// as for a plan.
func TestCheckAcceptsWhatIsFitted(t *testing.T) {
	keys := config.Keys()
	accepted := 0
	rapid.Check(t, func(rt *rapid.T) {
		sets := []string{"model=mahalanobis", "data.size=8"}
		algorithm := rapid.SampledFrom(mahalanobis.Family.Names()).Draw(rt, "metric.algorithm")
		sets = append(sets, "metric.algorithm="+algorithm)
		for _, k := range keys {
			own := strings.HasPrefix(k.Key, "model.") && slices.Contains(k.With, "mahalanobis") || strings.HasPrefix(k.Key, "metric.") && (len(k.With) == 0 || slices.Contains(k.With, algorithm))
			if own && !slices.Contains([]string{"metric.algorithm", "metric.positive", "model.dims"}, k.Key) && rapid.IntRange(0, 3).Draw(rt, k.Key+" is drawn") == 0 {
				sets = append(sets, k.Key+"="+rapid.SampledFrom(candidates(k)).Draw(rt, k.Key))
			}
		}
		cfg, err := config.LoadBytes([]byte(agreeBase), "agree.yaml", sets)
		if err != nil {
			return
		}
		accepted++
		_, err = MakePlan(t.Context(), cfg)
		var bad *config.Error
		o, sgd := cfg.Metric.Options.(mahalanobis.SGDKeys)
		byItems := sgd && !o.Steps.Given && errors.As(err, &bad) && bad.Key == "metric.c" // its limit depends on how many items there are
		if err != nil && !excused(err) && !byItems {
			rt.Fatalf("--set %s\nis accepted, and the fit says: %v", strings.Join(sets, " --set "), err)
		}
	})
	t.Logf("%d accepted", accepted)
	if accepted < 10 && !testing.Short() { // -short draws a fifth
		t.Errorf("only %d configs were accepted: the draws say little", accepted)
	}
}

// excused says whether an error comes from data or from numbers.
func excused(err error) bool {
	var finite *train.NonFiniteError
	var collapsed *train.CollapseError
	return errors.Is(err, data.ErrUnfit) || errors.As(err, &finite) || errors.As(err, &collapsed)
}

// oneStep builds all components of cfg and trains for a step, in memory.
func oneStep(cfg *config.Config) error {
	sets, err := wire.OpenData(context.Background(), cfg)
	if err != nil {
		return err
	}
	t, err := wire.Assemble(cfg, sets)
	if err != nil {
		return err
	}
	if _, err := monitor(cfg, t, sets, Watch{}); err != nil {
		return err
	}
	loader := batch.NewLoader(sets.Seen(), t.Sampler, nil, cfg.Seed, 0, 0, 0)
	defer loader.Close()
	t.Batches, t.Evaluate = loader, nil
	t.Log = func(*record.Event) error { return nil }
	t.Save = func(bool) error { return nil }
	return t.Run(context.Background())
}

// drawSets draws a component for some sections, and some of their keys.
func drawSets(t *rapid.T, keys []printed.ConfigKey) []string {
	sets := []string{"train={epochs: 0, steps: 1}"}
	chosen := map[string]string{}
	for _, s := range drawn {
		doc := keys[slices.IndexFunc(keys, func(k printed.ConfigKey) bool { return k.Key == s.name })]
		name := doc.Default
		var names []string
		for _, v := range doc.Values {
			if s.only == nil || slices.Contains(s.only, v.Value) {
				names = append(names, v.Value)
			}
		}
		if s.section == "defense.destination" && chosen["defense"] != "hm" {
			continue
		}
		if s.only != nil || rapid.IntRange(0, 3).Draw(t, s.section+" is drawn") == 0 {
			name = rapid.SampledFrom(names).Draw(t, s.name)
			sets = append(sets, s.name+"="+name)
		}
		chosen[s.section] = name
	}
	for _, k := range keys {
		section := k.Key[:max(strings.LastIndex(k.Key, "."), 0)]
		name, ok := chosen[section]
		if strings.HasPrefix(section, "defense.") && section != "defense.destination" {
			name, ok = chosen["defense"]
		}
		if !ok || k.Default == `""` || slices.ContainsFunc(drawn, func(d struct {
			section, name string
			only          []string
		}) bool {
			return d.name == k.Key
		}) || len(k.With) > 0 && !slices.Contains(k.With, name) {
			continue
		}
		if rapid.IntRange(0, 7).Draw(t, k.Key+" is drawn") == 0 {
			sets = append(sets, k.Key+"="+rapid.SampledFrom(candidates(k)).Draw(t, k.Key))
		}
	}
	return sets
}

// candidates are values of a key: its words, or numbers within its limits, and these
// themselves where they belong to it.
func candidates(k printed.ConfigKey) []string {
	if len(k.Values) > 0 {
		var out []string
		for _, v := range k.Values {
			out = append(out, v.Value)
		}
		return out
	}
	limits := k.Valid
	out := []string{k.Default}
	numbers := []string{"0", "1", "2", "3", "0.5", "0.001", "-0.5"}
	for _, r := range component.Rules(strings.ReplaceAll(limits, " and ", ",")) {
		numbers = append(numbers, component.Number(r.Limit))
	}
	for _, n := range numbers {
		x, _ := strconv.ParseFloat(n, 64)
		if len(component.CheckValue(reflect.ValueOf(x), reflect.StructTag(`check:"`+strings.ReplaceAll(limits, " and ", ",")+`"`))) == 0 && x < 1000 {
			out = append(out, n)
		}
	}
	switch k.Default {
	case "null", "auto":
		out = append(out, k.Default, "0.9", "0.9")
	}
	if strings.HasPrefix(k.Default, "[") {
		out = []string{k.Default, fmt.Sprint([]float64{0, 0.5})}
	}
	return out
}
