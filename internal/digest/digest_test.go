package digest

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tercet/internal/engine/kernel"
	"tercet/internal/proctest"
	"tercet/internal/safetensors"
	"tercet/internal/testutil"
)

func TestMain(m *testing.M) { proctest.Main(m) }

// allKey in the environment adds the runs that take longer than a few seconds.
const allKey = "TERCET_DIGESTS"

// runs are what the digests are of. Between them: batch norm, augmentation,
// samplers and miners, evaluations, crafted images, a solved metric.
var runs = []struct {
	name   string
	config string
	sets   []string
	slow   bool // only with TERCET_DIGESTS=all, at the levels with a stored digest
	heavy  bool // with plain Go kernels only with TERCET_DIGESTS=all
}{
	{name: "kill-test-10", config: "../../configs/kill-test.yaml", sets: []string{"train.epochs=0", "train.steps=10", "train.eval_samples=50", "optimizer.schedule.warmup=5 steps"}, heavy: true},
	{name: "c2f2", config: "testdata/c2f2.yaml", heavy: true},
	{name: "resnet18", config: "testdata/resnet18.yaml"},
	{name: "resnet18-shards", config: "testdata/resnet18.yaml", sets: []string{"train.shards=4", "train.batchnorm=shard"}},
	{name: "hm", config: "testdata/hm.yaml"},
	{name: "hm-shards", config: "testdata/hm.yaml", sets: []string{"train.shards=4"}},
	{name: "mahalanobis", config: "testdata/mahalanobis.yaml"},
	{name: "kill-test", config: "../../configs/kill-test.yaml", slow: true},
	{name: "demo", config: "../../configs/demo.yaml", slow: true},
}

const stored = "testdata/digests.txt"

const header = `# SHA-256 of what training computes: names, shapes and bits of the tensors in
# checkpoints/last.safetensors, in the order of the file. A digest is that of a
# run and a kernel level, on every architecture.
# TERCET_UPDATE_GOLDEN=1 TERCET_DIGESTS=all go test ./internal/digest adds those of
# this machine and rewrites those that changed. Change them only together with the
# numbers that training computes, and say so in the commit.
`

// TestDigests trains each run at each kernel level and compares the tensors of
// the last checkpoint with the stored digest.
func TestDigests(t *testing.T) {
	update := testutil.Updating()
	want := readDigests(t)
	got := map[string]string{}
	for _, r := range runs {
		for _, level := range []kernel.Level{kernel.AMX, kernel.AVX512, kernel.AVX2, kernel.Generic} {
			key := r.name + " " + level.String()
			t.Run(r.name+"/"+level.String(), func(t *testing.T) {
				if (r.slow || r.heavy && level == kernel.Generic) && os.Getenv(allKey) != "all" {
					t.Skipf("takes several seconds; %s=all runs it", allKey)
				}
				if r.slow && want[key] == "" && !update {
					t.Skipf("no digest of %q is stored", key) // plain Go kernels take tens of minutes
				}
				if !slices.Contains(kernel.Levels(), level) {
					t.Skipf("this processor or build has no kernel level %s", level)
				}
				got[key] = trained(t, level, r.config, r.sets)
				switch was, ok := want[key]; {
				case update || got[key] == was:
				case !ok:
					t.Errorf("%s has no digest of %q; trained here: %s", stored, key, got[key])
				default:
					t.Errorf("%s: the tensors have digest %s, stored is %s: training gives other bits than before", key, got[key], was)
				}
			})
		}
	}
	if update {
		maps.Copy(want, got)
		writeDigests(t, want)
	}
}

// trained returns the digest of the run's last checkpoint.
func trained(t *testing.T, level kernel.Level, config string, sets []string) string {
	t.Helper()
	root := t.TempDir()
	args := []string{"train", "--quiet", "--config", config, "--runs-dir", root}
	for _, s := range sets {
		args = append(args, "--set", s)
	}
	cmd := proctest.Command(t, []string{kernel.EnvLevel + "=" + level.String()}, args...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %v\n%s", args, err, out)
	}
	found, err := filepath.Glob(filepath.Join(root, "*", "checkpoints", "last.safetensors"))
	if err != nil || len(found) != 1 {
		t.Fatalf("checkpoints %v, error %v", found, err)
	}
	b, err := os.ReadFile(found[0])
	if err != nil {
		t.Fatal(err)
	}
	file, err := safetensors.Parse(b)
	if err != nil {
		t.Fatal(err)
	}
	return digestOf(file.Tensors)
}

// digestOf is the SHA-256 over name, shape and bits of each tensor. It does not
// depend on the file's metadata, which say when and by which version it was made.
func digestOf(tensors []safetensors.Tensor) string {
	h := sha256.New()
	for _, t := range tensors {
		fmt.Fprintf(h, "%q %v\n", t.Name, t.Shape)
		_ = binary.Write(h, binary.LittleEndian, t.Data) // a hash takes all that it is given
	}
	return hex.EncodeToString(h.Sum(nil))
}

// A digest that cannot change checks nothing.
func TestDigestSeesEachPart(t *testing.T) {
	base := []safetensors.Tensor{{Name: "a", Shape: []int{2}, Data: []float32{1, 2}}}
	seen := map[string]string{digestOf(base): "the base"}
	for what, other := range map[string]safetensors.Tensor{
		"a name":  {Name: "b", Shape: []int{2}, Data: []float32{1, 2}},
		"a shape": {Name: "a", Shape: []int{1, 2}, Data: []float32{1, 2}},
		"a bit":   {Name: "a", Shape: []int{2}, Data: []float32{1, 2.0000002}},
	} {
		d := digestOf([]safetensors.Tensor{other})
		if seen[d] != "" {
			t.Errorf("%s changes nothing", what)
		}
		seen[d] = what
	}
}

// readDigests reads "RUN LEVEL DIGEST" lines, by "RUN LEVEL".
func readDigests(t *testing.T) map[string]string {
	t.Helper()
	digests := map[string]string{}
	b, err := os.ReadFile(stored)
	if err != nil {
		t.Fatal(err)
	}
	for i, line := range strings.Split(string(b), "\n") {
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		words := strings.Fields(line)
		if len(words) != 3 {
			t.Fatalf("%s:%d: expected RUN LEVEL DIGEST", stored, i+1)
		}
		digests[words[0]+" "+words[1]] = words[2]
	}
	return digests
}

func writeDigests(t *testing.T, digests map[string]string) {
	t.Helper()
	var b strings.Builder
	b.WriteString(header)
	for _, key := range slices.Sorted(maps.Keys(digests)) {
		fmt.Fprintf(&b, "%s %s\n", key, digests[key])
	}
	if err := os.WriteFile(stored, []byte(b.String()), 0o666); err != nil {
		t.Fatal(err)
	}
}
