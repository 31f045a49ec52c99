package contract

import (
	"bytes"
	"debug/buildinfo"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"tercet/internal/cli"
	"tercet/internal/cli/clitest"
	"tercet/internal/engine/kernel"
	"tercet/internal/testutil"
)

// TestContract runs the command lines of testdata/commands.txt and compares what
// comes of each with testdata/golden; after a change, TERCET_UPDATE_GOLDEN=1
// writes the goldens again. -run TestContract/NAME runs one group and those whose
// folders it needs.
func TestContract(t *testing.T) {
	if fused() {
		t.Skip("the goldens are of amd64 without fused products and sums")
	}
	forceGeneric(t)
	groups := readTable(t, filepath.Join("testdata", "commands.txt"))
	c := contract{root: absolute(t, "../.."), golden: absolute(t, "testdata/golden"), groups: groups, done: map[string]outcome{}}
	inputs := absolute(t, "testdata/inputs")
	c.inputs = testutil.Snapshot(t, inputs)
	for _, g := range groups {
		t.Run(g.name, func(t *testing.T) { c.compare(t, g) })
	}
	names, err := filepath.Glob(filepath.Join(c.golden, "*.txt"))
	if err != nil || len(names) != len(groups) {
		t.Errorf("%d files in testdata/golden for %d groups; remove those without a group (%v)", len(names), len(groups), err)
	}
}

// fused tells builds whose compiler may fuse a product and a sum: other bits.
func fused() bool {
	if runtime.GOARCH != "amd64" {
		return true
	}
	self, err := os.Executable()
	if err != nil {
		return false
	}
	info, err := buildinfo.ReadFile(self)
	if err != nil {
		return false
	}
	for _, s := range info.Settings {
		if s.Key == "GOAMD64" && s.Value >= "v3" {
			return true
		}
	}
	return false
}

// forceGeneric takes the kernels that every machine has, until the test ends.
func forceGeneric(t *testing.T) {
	t.Helper()
	restore, err := kernel.Force(kernel.Generic)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(restore)
}

func absolute(t *testing.T, path string) string {
	t.Helper()
	path, err := filepath.Abs(path)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

type contract struct {
	root, golden string // of the checkout, of the goldens
	groups       []group
	inputs       map[string]string // files that every first group finds
	done         map[string]outcome
}

// outcome is what a group prints and leaves.
type outcome struct {
	blocks []string // one for each step, the first line names it
	files  map[string]string
}

func (c *contract) compare(t *testing.T, g group) {
	got := c.run(t, g.name)
	path := filepath.Join(c.golden, g.name+".txt")
	if testutil.Updating() {
		testutil.Write(t, path, strings.Join(got.blocks, ""))
		return
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v (make golden writes it)", err)
	}
	want := blocks(string(b))
	for i, block := range got.blocks {
		head, _, _ := strings.Cut(block, "\n")
		if i >= len(want) || !strings.HasPrefix(want[i], head+"\n") {
			t.Fatalf("the golden has not %q as step %d; make golden writes it again", head, i+1)
		}
		if want[i] != block {
			t.Errorf("%s\nis not what testdata/golden/%s.txt has (- golden, + now; make golden writes it again):\n%s", head, g.name, testutil.Diff(want[i], block))
		}
	}
	if len(want) > len(got.blocks) {
		t.Errorf("the golden has %d steps more; make golden writes it again", len(want)-len(got.blocks))
	}
}

// blocks splits a golden before each line that is a step.
func blocks(golden string) []string {
	var out []string
	for _, line := range strings.SplitAfter(golden, "\n") {
		if strings.HasPrefix(line, "$ ") || strings.HasPrefix(line, "! ") {
			out = append(out, "")
		}
		if len(out) > 0 {
			out[len(out)-1] += line
		}
	}
	return out
}

// run takes the steps of a group in a folder of its own, once.
func (c *contract) run(t *testing.T, name string) outcome {
	t.Helper()
	if o, ok := c.done[name]; ok {
		return o
	}
	var g group
	for _, g = range c.groups {
		if g.name == name {
			break
		}
	}
	files := c.inputs
	if g.from != "" {
		files = c.run(t, g.from).files
	}
	dir := t.TempDir()
	t.Chdir(dir)
	restore(t, files)
	for _, name := range []string{"configs", "results"} {
		if err := os.Symlink(filepath.Join(c.root, name), name); err != nil {
			t.Fatal(err)
		}
	}
	var o outcome
	for _, s := range g.steps {
		if s.verb != "$" {
			if err := verbs[s.verb](clitest.ShellWords(s.text)); err != nil {
				t.Fatalf("commands.txt:%d: %v", s.line, err)
			}
			o.blocks = append(o.blocks, fmt.Sprintf("! %s %s\n", s.verb, s.text))
			files = testutil.Snapshot(t, ".")
			continue
		}
		var stdout, stderr bytes.Buffer
		code := cli.Main(clitest.ShellWords(s.text)[1:], strings.NewReader(""), &stdout, &stderr)
		after := testutil.Snapshot(t, ".")
		o.blocks = append(o.blocks, c.block(dir, s.text, code, stdout.String(), stderr.String(), changes(files, after, dir, c.root)))
		files = after
	}
	o.files = files
	c.done[name] = o
	return o
}

// block is a step of a golden. What is printed is indented, so that no line of
// it looks like a step.
func (c *contract) block(dir, line string, code int, stdout, stderr, files string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "$ %s\nexit %d\n", line, code)
	for _, s := range []struct{ name, text string }{{"stdout", document([]byte(stdout))}, {"stderr", stderr}} {
		if text := scrub(s.text, dir, c.root); text != "" {
			fmt.Fprintf(&b, "%s:\n%s\n", s.name, indent(text))
		}
	}
	b.WriteString(files)
	return b.String()
}
