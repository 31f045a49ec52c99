package making

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"tercet/internal/study"
	"tercet/studies"
)

// Every step of the built-in studies can be planned; its configs are there.
func TestPlansOfAllStudies(t *testing.T) {
	t.Chdir(filepath.Join("..", "..", ".."))
	for _, s := range study.BuiltIn() {
		if len(s.Steps) == 0 {
			t.Errorf("%s has no steps", s.Name)
		}
		now := slices.DeleteFunc(s.StepNames(), func(name string) bool { return s.Step(name).Chosen != "" }) // of which the others are known later
		steps, err := Plan(s, now, "runs", []string{"sweep.seed=[0]"})                                       // fewer runs of the same kinds
		if err != nil {
			t.Errorf("%s: %v", s.Name, err)
			continue
		}
		for _, step := range steps {
			if len(step.Runs) == 0 {
				t.Errorf("%s %s has no runs", s.Name, step.Name)
			}
			for _, task := range step.Tasks {
				for _, c := range task.Commands {
					if line := strings.Join(c.Args, " "); strings.ContainsAny(line, "{}") || line == "" || slices.Contains(c.Args, "") {
						t.Errorf("%s %s: %q", s.Name, step.Name, c.Args)
					}
				}
			}
		}
	}
}

func builtInNamed(t *testing.T, name string) *study.Spec {
	t.Helper()
	text, file, _ := studies.All.Read(name)
	s, err := study.Read(text, file, name)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// The clustering study has 54 runs a data set; those of L1 have no margins, and one clean
// and one noisy run of each loss have pictures.
func TestPlanOfClustering(t *testing.T) {
	t.Chdir(filepath.Join("..", "..", ".."))
	steps, err := Plan(builtInNamed(t, "clustering"), nil, "out", []string{"sweep.seed=[0,1]"})
	if err != nil || len(steps) != 2 || len(steps[0].Tasks) != 36 {
		t.Fatalf("%d steps, %v", len(steps), err)
	}
	pictured, margins := 0, 0
	for _, task := range steps[0].Tasks {
		for _, c := range task.Commands {
			line := strings.Join(c.Args, " ")
			if strings.Contains(line, "margins") {
				margins++
			}
			if strings.Contains(line, "multicut-fit") && !slices.Contains(c.Args, "--no-pictures") {
				pictured++
			}
			if c.Train && !strings.Contains(line, "--set sweep.seed=[0,1] --runs-dir out --task ") {
				t.Error(line)
			}
		}
	}
	if pictured != 6 || margins != 24 {
		t.Errorf("%d with pictures, %d with margins", pictured, margins)
	}
	if _, err := Plan(builtInNamed(t, "clustering"), []string{"mnits"}, "out", nil); err == nil || !strings.Contains(err.Error(), "did you mean mnist?") {
		t.Errorf("%v", err)
	}
}

// Each run of the gap has the reference of its own draw; runs of several steps are made
// once, and extra steps only where they are named.
func TestPlanBesideAndShared(t *testing.T) {
	t.Chdir(filepath.Join("..", "..", ".."))
	steps, err := Plan(builtInNamed(t, "stability"), []string{"gap"}, "runs", nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, task := range steps[0].Tasks {
		last := strings.Join(task.Commands[1].Args, " ")
		_, draw, _ := strings.Cut(task.Dir, "_seed-")
		if draw == "" || !strings.HasSuffix(last, "--reference runs/gap-reference-c2f2-seed-"+draw) {
			t.Errorf("%s: %s", task.Dir, last)
		}
	}
	steps, err = Plan(builtInNamed(t, "hardness"), nil, "runs", nil)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, step := range steps {
		if step.Extra {
			t.Errorf("step %s is extra", step.Name)
		}
		for _, task := range step.Tasks {
			if seen[task.Dir] {
				t.Errorf("%s is made twice", task.Dir)
			}
			seen[task.Dir] = true
		}
	}
	if last := steps[len(steps)-1]; len(last.Runs) == 0 || len(last.Tasks) == len(last.Runs) {
		t.Errorf("step %s shares no run", last.Name)
	}
}

// fakeTercet makes the files of runs; what it does to a directory is in fates.
type fakeTercet struct {
	mutex  sync.Mutex
	lines  []string
	codes  map[string]int // by a part of the line
	atOnce int
	most   int
}

func (f *fakeTercet) exec(_ context.Context, args []string, log io.Writer) (int, error) {
	line := strings.Join(args, " ")
	f.mutex.Lock()
	f.lines = append(f.lines, line)
	f.atOnce++
	f.most = max(f.most, f.atOnce)
	f.mutex.Unlock()
	defer func() {
		f.mutex.Lock()
		f.atOnce--
		f.mutex.Unlock()
	}()
	fmt.Fprintln(log, "said by", line)
	for part, code := range f.codes {
		if strings.Contains(line, part) {
			return code, nil
		}
	}
	switch args[0] {
	case "train":
		os.MkdirAll(filepath.Join(args[1], "checkpoints"), 0o755)
		return 0, os.WriteFile(filepath.Join(args[1], "manifest.json"), []byte(`{"status": "finished"}`), 0o644)
	case "make":
		return 0, os.WriteFile(args[1], nil, 0o644)
	}
	return 0, nil
}

func tasks(n int) []*Task {
	var out []*Task
	for i := range n {
		dir := fmt.Sprintf("r%d", i)
		out = append(out, &Task{Dir: dir, Commands: []Command{
			{Args: []string{"train", dir}, Train: true},
			{Args: []string{"make", dir + "/made"}, Makes: dir + "/made", After: []string{dir + "/manifest.json"}},
			{Args: []string{"eval", dir}},
		}})
	}
	return out
}

// What fails ends its run alone and is listed; a run that is lost is a result; what is done
// is not done again.
func TestRunnerSkipsAndCollects(t *testing.T) {
	t.Chdir(t.TempDir())
	f := &fakeTercet{codes: map[string]int{"train r1": 5, "eval r2": 1, "make r3": 3}}
	var said []string
	r := &Runner{Exec: f.exec, Jobs: 3, Logs: "logs", Say: func(s string) { said = append(said, s) }}
	list := tasks(5)
	list[3].Commands[1].May = []int{3}
	failures, err := r.Run(t.Context(), list)
	if err != nil || len(failures) != 1 || failures[0].Dir != "r2" || failures[0].Code != 1 || !strings.Contains(failures[0].String(), "logs/r2.log") {
		t.Fatalf("%v %v", failures, err)
	}
	all := strings.Join(said, "\n")
	for _, want := range []string{"r0: done", "r1: collapsed or diverged", "r2: exit code 1 of tercet eval r2", "r3: left out, since tercet make r3/made gives exit code 3", "r4: done"} {
		if !strings.Contains(all, want) {
			t.Errorf("no %q in\n%s", want, all)
		}
	}
	if slices.Contains(f.lines, "eval r3") || slices.Contains(f.lines, "make r1/made") || f.most > 3 {
		t.Errorf("%q, %d at once", f.lines, f.most)
	}
	if log, err := os.ReadFile("logs/r2.log"); err != nil || !strings.Contains(string(log), "== tercet eval r2\nsaid by eval r2") {
		t.Errorf("%s %v", log, err)
	}
	// Files of equal times do not count as newer.
	later := time.Now().Add(time.Second)
	if err := os.Chtimes("r0/made", later, later); err != nil {
		t.Fatal(err)
	}
	f.lines = nil
	if _, err := r.Run(t.Context(), list[:1]); err != nil || fmt.Sprint(f.lines) != "[eval r0]" {
		t.Errorf("again: %q %v", f.lines, err)
	}
	if err := os.Remove("r0/checkpoints"); err != nil {
		t.Fatal(err)
	}
	f.lines = nil
	if _, err := r.Run(t.Context(), list[:1]); err != nil || f.lines != nil {
		t.Errorf("of a run without checkpoints: %q %v", f.lines, err)
	}
	// What such a run lacks is a failure, but for what may fail and what follows a collapse.
	list[0].Commands = append(list[0].Commands,
		Command{Args: strings.Fields("attack --run r0 --if-needed")}, Command{Args: strings.Fields("eval --run r0 --split validation")},
		Command{Args: strings.Fields("noise --run r0"), May: []int{3}})
	failures, err = r.Run(t.Context(), list[:1])
	if err != nil || len(failures) != 1 || f.lines != nil || !strings.Contains(failures[0].String(), "its missing results (attack.json, eval-validation.json) cannot be computed; remove the folder") {
		t.Errorf("of a run without checkpoints: %q %v %v", f.lines, failures, err)
	}
	for status, want := range map[string]string{"collapsed": "[]", "running": "[a finished training attack.json eval-validation.json]"} {
		if err := os.WriteFile("r0/manifest.json", []byte(`{"status": "`+status+`"}`), 0o644); err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(list[0].lacks()); got != want {
			t.Errorf("%s: lacks %s, want %s", status, got, want)
		}
	}
}

// An interruption lets no other run begin.
func TestRunnerStops(t *testing.T) {
	t.Chdir(t.TempDir())
	ctx, stop := context.WithCancelCause(t.Context())
	why := errors.New("interrupted")
	n := 0
	r := &Runner{Jobs: 1, Logs: "logs", Exec: func(context.Context, []string, io.Writer) (int, error) {
		n++
		stop(why)
		return 130, nil
	}}
	if failures, err := r.Run(ctx, tasks(4)); !errors.Is(err, why) || n != 1 || failures != nil {
		t.Errorf("%d commands, %v, %v", n, failures, err)
	}
}

// The example of the documentation is a study.
func TestDocumentedStudy(t *testing.T) {
	t.Chdir(filepath.Join("..", "..", ".."))
	text, err := os.ReadFile("docs/studies.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), "```yaml\n")
	example, _, _ := strings.Cut(rest, "```")
	s, err := study.Read([]byte(example), "docs/studies.md", "mine")
	if err != nil {
		t.Fatal(err)
	}
	steps, err := Plan(s, nil, "runs", nil)
	if err != nil || len(steps[0].Tasks) != 9 {
		t.Errorf("%v", err)
	}
}
