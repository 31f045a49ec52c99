package cli_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"tercet/internal/cli"
	"tercet/internal/cli/base"
	"tercet/internal/cli/clitest"
	"tercet/internal/config"
	"tercet/internal/data"
	"tercet/internal/record/printed"
)

func TestMistakesOfUsage(t *testing.T) {
	t.Chdir(t.TempDir())
	clitest.WriteFile(t, "typo.yaml", "name: x\nloss:\n  margn: 1\n")
	clitest.WriteFile(t, "type.yaml", "train: {epochs: many}\n")
	clitest.WriteFile(t, "key.yaml", "miner: {name: random, cutoff: 1}\n")
	clitest.WriteFile(t, "a.yaml", "include: b.yaml\n")
	clitest.WriteFile(t, "b.yaml", "include: a.yaml\n")
	for _, tc := range []struct {
		line string
		code int
		want string
	}{
		{"confg", 2, `tercet: unknown command "confg"; did you mean config? commands: `},
		{"config", 2, "tercet: config needs one of: check, init, keys, schema, show"},
		{"config shwo", 2, `tercet: config has no command "shwo"; did you mean show?`},
		{"trian -c x", 2, `tercet: unknown command "trian"; did you mean train? commands: `},
		{"trian --config=x", 2, `tercet: unknown command "trian"; did you mean train? commands: `},
		{"config shwo -z", 2, `tercet: config has no command "shwo"; did you mean show?`},
		{"eval --run x --set seed=1", 2, "tercet: tercet eval has no --set: a run keeps the config that it was trained with; --split chooses its images"},
		{"-z", 2, "tercet: unknown shorthand flag: 'z' in -z (flags: tercet --help)"},
		{"version extra", 2, `tercet: tercet version takes no arguments; got "extra" (usage: tercet version [flags])`},
		{"version --jsn", 2, "tercet: unknown flag: --jsn; did you mean --json? (flags: tercet version --help)"},
		{"version --threads=x", 2, `tercet: --threads is "x"; want a whole number`},
		{"version --threads=-1", 2, "tercet: --threads is -1; give a number of threads"},
		{"config check", 2, "tercet: tercet config check takes FILE...; got no arguments (usage: tercet config check FILE..."},
		{"completion", 2, "; got no arguments (usage: tercet completion"},
		{"completion bsh", 2, `tercet: unknown shell "bsh"; did you mean bash?`},
		{"help nope", 2, `tercet: no help on "nope"`},
		{"help confg", 2, `tercet: no help on "confg"; did you mean config?`},
		{"config keys lss", 2, `tercet: no key begins with "lss"; did you mean loss?`},
		{"config show none.yaml", 2, "tercet: none.yaml: no such config file"},
		{"config show typo.yaml", 2, "tercet: typo.yaml:3: loss.margn: unknown key; did you mean margin? valid: distance, eps, form, margin, memory, name, reducer"},
		{"config show type.yaml", 2, `tercet: type.yaml:1: train.epochs: must be a whole number, got "many"`},
		{"config show key.yaml", 2, `tercet: key.yaml:1: miner.cutoff: miner "random" does not have this key; distance-weighted has it`},
		{"config show a.yaml", 2, "tercet: b.yaml:1: include: includes go in a circle: a.yaml -> b.yaml -> a.yaml"},
		{"config show --set seed", 2, `tercet: --set: "seed" is not of the form section.key=value`},
		{"config show --set seed=[1", 2, "tercet: --set: seed: not valid YAML: "},
		{"config check typo.yaml type.yaml", 2, "typo.yaml:3: loss.margn: unknown key;"},
		{"version --cpuprofile=no/such/folder/x", 1, "tercet: --cpuprofile: open no/such/folder/x"},
	} {
		code, out, stderr := clitest.Run(strings.Fields(tc.line)...)
		if code != tc.code || !strings.Contains(stderr, tc.want) {
			t.Errorf("tercet %s\ngot  %d %s\nwant %d %s", tc.line, code, stderr, tc.code, tc.want)
		}
		if out != "" && !strings.HasPrefix(tc.line, "config check") {
			t.Errorf("tercet %s: an error left %q on stdout", tc.line, out)
		}
	}
}

func TestTheVersionFlagIsTheVersionCommand(t *testing.T) {
	for _, json := range []string{"", "--json"} {
		_, want, _ := clitest.Run(strings.Fields("version " + json)...)
		code, got, stderr := clitest.Run(strings.Fields("--version " + json)...)
		if code != 0 || got != want || got == "" {
			t.Errorf("%s: code %d, printed %q, want %q\n%s", json, code, got, want, stderr)
		}
	}
}

func TestTheCommitThatTheLinkerSets(t *testing.T) {
	defer func(v, c string) { base.Version, base.Commit = v, c }(base.Version, base.Commit)
	base.Version, base.Commit = "v1-3-gabc-dirty", "abcdef"
	if b := base.BuildInfo(); b.Commit != "abcdef" || !b.Dirty {
		t.Errorf("got %+v", b)
	}
	if _, out, _ := clitest.Run("version"); !strings.Contains(out, "\ncommit  abcdef with changes\n") {
		t.Errorf("got %q", out)
	}
}

// make build sets the commit of the clone that it builds in.
func TestMakeBuildSetsTheCommit(t *testing.T) {
	head, err := exec.Command("git", "rev-parse", "HEAD").Output()
	if err != nil {
		t.Skip("not in a git clone")
	}
	build := exec.Command("make", "-n", "build")
	build.Dir = "../.."
	out, err := build.Output()
	if errors.Is(err, exec.ErrNotFound) {
		t.Skip("no make")
	}
	if want := "-X tercet/internal/cli/base.Commit=" + strings.TrimSpace(string(head)); err != nil || !strings.Contains(string(out), want) {
		t.Errorf("error %v, %q is not in %s", err, want, out)
	}
}

func TestErrorsAsJSON(t *testing.T) {
	for _, line := range []string{"--json config show --set loss.margn=1", "version --jsn --json", "confg --json"} {
		code, out, stderr := clitest.Run(strings.Fields(line)...)
		lines := strings.Split(strings.TrimSpace(stderr), "\n")
		var doc printed.Error
		if err := json.Unmarshal([]byte(lines[len(lines)-1]), &doc); err != nil {
			t.Fatalf("%s: %v in %q", line, err, stderr)
		}
		if doc.Schema != "tercet.error/1" || doc.ExitCode != 2 || code != 2 || doc.Error == "" || out != "" {
			t.Errorf("%s: %d %+v, stdout %q", line, code, doc, out)
		}
	}
}

func TestJSONIsOneDocumentWithASchema(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, line := range []string{"version", "doctor", "config show", "config check x.yaml", "config keys", "config schema",
		"completion bash", "man pages", "help exit-codes", "config show --help", ""} {
		clitest.WriteFile(t, "x.yaml", "name: x\n")
		code, out, stderr := clitest.Run(append(strings.Fields(line), "--json")...)
		if code != 0 || stderr != "" {
			t.Errorf("%s: exit code %d, stderr %q", line, code, stderr)
		}
		dec := json.NewDecoder(strings.NewReader(out))
		var doc map[string]any
		if err := dec.Decode(&doc); err != nil {
			t.Errorf("%s: %v", line, err)
			continue
		}
		if dec.More() {
			t.Errorf("%s: more than one document", line)
		}
		if schema, _ := doc["schema"].(string); !strings.HasPrefix(schema, "tercet.") || !strings.HasSuffix(schema, "/1") {
			t.Errorf("%s: schema %q", line, doc["schema"])
		}
	}
}

func TestExitCodes(t *testing.T) {
	for _, tc := range []struct {
		err  error
		want int
	}{
		{nil, 0},
		{errors.New("x"), 1},
		{&config.Error{Msg: "x"}, 2},
		{errors.Join(errors.New("x"), &config.Error{Msg: "x"}), 2},
		{base.Usagef("x"), 2},
		{fmt.Errorf("x: %w", data.ErrMissing), 3},
		{fmt.Errorf("x: %w", data.ErrFormat), 3},
		{fmt.Errorf("x: %w", data.ErrUnfit), 3},
		{&base.ExitError{Code: base.ExitGate, Err: errors.New("x")}, 4},
		{fmt.Errorf("x: %w", &base.ExitError{Code: base.ExitDiverged, Err: errors.New("x")}), 5},
		{fmt.Errorf("x: %w", base.ErrInterrupted), 130},
		{context.Canceled, 130},
		{&base.ExitError{Code: base.ExitData, Err: &config.Error{Msg: "a run's config is broken"}}, 3},
	} {
		if got := base.ExitCode(tc.err); got != tc.want {
			t.Errorf("%v: code %d, want %d", tc.err, got, tc.want)
		}
	}
}

func TestAFullDiskBehindStdoutIsAnError(t *testing.T) {
	var stderr bytes.Buffer
	for _, line := range []string{"version", "version --json", "help", "config show", "completion bash"} {
		stderr.Reset()
		if code := cli.Main(strings.Fields(line), strings.NewReader(""), fullDisk{}, &stderr); code != 1 || !strings.Contains(stderr.String(), "no space left") {
			t.Errorf("%s: code %d, %s", line, code, stderr.String())
		}
	}
}

type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, errors.New("no space left on device") }

func TestProfilesAreWritten(t *testing.T) {
	t.Chdir(t.TempDir())
	if code, _, stderr := clitest.Run("version", "--cpuprofile", "cpu", "--memprofile", "mem", "--trace", "trace"); code != 0 {
		t.Fatal(stderr)
	}
	for _, name := range []string{"cpu", "mem", "trace"} {
		if info, err := os.Stat(name); err != nil || info.Size() == 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestConfigShowRunsAsItIs(t *testing.T) {
	t.Chdir(t.TempDir())
	code, first, stderr := clitest.Run("config", "show", "--set", "seed=5", "--set", "sweep.loss.margin=[0.1, 0.2]")
	if code != 0 {
		t.Fatal(stderr)
	}
	clitest.WriteFile(t, "first.yaml", first)
	if _, second, _ := clitest.Run("config", "show", "first.yaml"); second != first {
		t.Error("showing a resolved config changed it")
	}
	if _, out, _ := clitest.Run("config", "check", "first.yaml"); out != "first.yaml: ok, 2 runs\n" {
		t.Errorf("got %q", out)
	}
	_, out, _ := clitest.Run("config", "show", "first.yaml", "--origins", "--set", "seed=6")
	if !strings.Contains(out, "first.yaml:") || !clitest.HasRow(out, "seed", "6", "--set") {
		t.Errorf("origins:\n%s", out)
	}
}

func TestConfigCheckNamesEveryFile(t *testing.T) {
	t.Chdir(t.TempDir())
	clitest.WriteFile(t, "good.yaml", "name: x\n")
	clitest.WriteFile(t, "bad.yaml", "nam: x\n")
	code, out, stderr := clitest.Run("config", "check", "good.yaml", "bad.yaml")
	if code != 2 || out != "good.yaml: ok, 1 run\nbad.yaml: bad\n" || !strings.Contains(stderr, "1 config of 2 not valid") {
		t.Errorf("got %d %q %q", code, out, stderr)
	}
}
