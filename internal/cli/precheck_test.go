package cli_test

import (
	"os"
	"strings"
	"testing"

	"tercet/internal/cli/base"
	"tercet/internal/cli/clitest"
)

// What training refuses before its first step leaves no directory.
func TestARunThatCannotBeginLeavesNoDirectory(t *testing.T) {
	clitest.InTiny(t)
	clitest.WriteFile(t, "warm.yaml", "include: tiny.yaml\nname: warm\noptimizer: {schedule: {name: cosine, warmup: 900 steps}}\nsweep: {batch.pairs: [8, 9]}\n")
	for _, tc := range []struct {
		line string
		code int
		want string
	}{
		{"train -c tiny.yaml --set data=folder --set data.root=gone", base.ExitData, "gone"},
		{"train -c tiny.yaml --set optimizer.schedule=cosine --set 'optimizer.schedule.warmup=900 steps'", base.ExitUsage, "warmup must be shorter than the run, which has 18 steps, is 900"},
		{"train -c tiny.yaml --set batch=m-per-class --set batch.classes=500", base.ExitData, "batch"},
		// A fit looks at its features once it has begun.
		{"train --set name=fit --set data.size=16 --set data.glyphs.classes=4 --set model=mahalanobis --set model.dims=300", base.ExitUsage, "model.dims"},
		{"train -c warm.yaml --jobs 2", base.ExitUsage, "warm-pairs-9: "},
		{"train -c warm.yaml", base.ExitUsage, "warm-pairs-8: "},
	} {
		clitest.Refuse(t, tc.code, tc.line, tc.want)
		if entries, _ := os.ReadDir("runs"); len(entries) > 0 {
			t.Errorf("%s: left %v", tc.line, entries)
		}
	}
	clitest.Must(t, 0, "train -c tiny.yaml")
}

// config check refuses what training would refuse of any data.
func TestConfigCheckRefusesWhatTrainRefuses(t *testing.T) {
	clitest.InTiny(t)
	for _, tc := range []struct{ set, want string }{
		{"optimizer.schedule={name: cosine, warmup: 2 epochs}", "optimizer.schedule.warmup: must be shorter than the run, which has 2 epochs, is 2"},
		{"data={name: npy, train: {vectors: x.npy, labels: y.npy}, test: {vectors: x.npy, labels: y.npy}, augment: {flip: true}}", "data.augment.flip: changes images; data npy are vectors"},
		{"data={name: npy, train: {vectors: x.npy, labels: y.npy}, test: {vectors: x.npy, labels: y.npy}, color: rgb}", "data.color: changes images; data npy are vectors"},
		{"data.crop=8", "data.crop: has no meaning for data glyphs"},
	} {
		code, _, stderr := clitest.Run("config", "check", "tiny.yaml", "--set", tc.set)
		if code != base.ExitUsage || !strings.Contains(stderr, tc.want) {
			t.Errorf("%s: code %d, said\n%s\nwant %s", tc.set, code, stderr, tc.want)
		}
	}
}
