package attack_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tercet/internal/cli/clitest"
	"tercet/internal/record"
)

// A quick look does not cost the result of hours.
func TestKeepsTheLargerResult(t *testing.T) {
	clitest.InTiny(t)
	clitest.Must(t, 0, "train -c tiny.yaml")
	const look = "attack --run runs/tiny --pgd-steps 1 --bootstrap 0 --examples 0"
	const whole = look + " --suite ers --queries 12 --variant both"
	clitest.Must(t, 0, look+" --queries 2") // the first one has less
	clitest.Must(t, 0, whole)
	before := clitest.Snapshot(t, ".")
	for flags, want := range map[string]string{
		"--queries 8":                                   "replacing runs/tiny/attack.json would lose: the scores CA+, CA-, QA+, QA-, TMA, LTM, GTM, GTT, ERS; 12 queries instead of 8; --out-dir FOLDER writes elsewhere, --force replaces it",
		"--suite ers --variant fixed":                   "the variant published; --out-dir",
		"--suite ers --queries 11":                      "would lose: 12 queries instead of 11; --out-dir",
		"--queries 8 --if-needed":                       "12 queries instead of 8",
		"--queries 8 --out-dir runs/tiny/./":            "12 queries instead of 8",
		"--suite ers --queries 12 --eps 8/255":          "replacing runs/tiny/attack.json would lose: eps 77/255 instead of 8/255; step 77/255 instead of 8/255; --out-dir FOLDER writes elsewhere, --force replaces it",
		"--suite ers --eps 8/255 --step 1/255":          "would lose: eps 77/255 instead of 8/255; step 77/255 instead of 1/255; --out-dir",
		"--suite ers --queries 12 --seed 1 --if-needed": "would lose: seed 0 instead of 1; --out-dir",
	} {
		clitest.Refuse(t, 2, look+" "+flags, want)
	}
	clitest.Unchanged(t, ".", before, nil)

	clitest.Must(t, 0, look+" --queries 8 --out quick")
	clitest.Must(t, 0, look+" --queries 8 --force")
}

// Pictures of a result do not stay next to one that replaces it and is not drawn.
func TestNoPictureOfAReplacedResult(t *testing.T) {
	clitest.InTiny(t)
	clitest.Must(t, 0, "train -c tiny.yaml -q")
	const figures = "runs/tiny/figures/"
	for line, pictures := range map[string][]string{
		"attack --run runs/tiny --attack ES --pgd-steps 1 --bootstrap 0 --queries 4":                        {"attack.png", "attack-gallery.png", "attack-gallery.csv"},
		"attack --run runs/tiny --attack ES --pgd-steps 1 --bootstrap 0 --queries 4 --curve eps=0..4/255:2": {"attack-curve.png", "attack-curve.svg"},
		"cluster --run runs/tiny -k 2 --map pca":                                                            {"pca.png", "pca.svg", "clusters.png", "clusters-gallery.png", "clusters-gallery.csv", "contingency.png", "cluster-sizes.png", "confusion.png", "confusion.csv"},
	} {
		for flags, stays := range map[string]bool{"": true, " --force --no-pictures": false} {
			clitest.Must(t, 0, line+" --force")
			clitest.Must(t, 0, line+flags)
			for _, picture := range pictures {
				if _, err := os.Stat(figures + picture); (err == nil) != stays {
					t.Errorf("%s%s: %v", line, flags, err)
				}
			}
		}
	}
}

// So it is with a curve.
func TestKeepsTheLargerCurve(t *testing.T) {
	clitest.InTiny(t)
	clitest.Must(t, 0, "train -c tiny.yaml")
	const curve = "attack --run runs/tiny --pgd-steps 1 --bootstrap 0 --no-pictures"
	clitest.Must(t, 0, curve+" --queries 4 --curve eps=0..4/255:2")
	clitest.Must(t, 0, curve+" --queries 8 --step 4/255 --attack ES,LTM --curve eps=0..4/255:3") // more of the same
	before := clitest.Snapshot(t, ".")
	for flags, want := range map[string]string{
		"--queries 8 --curve eps=0..4/255:3":                              "replacing runs/tiny/curve.json would lose: the scores LTM; --out-dir FOLDER writes elsewhere, --force replaces it",
		"--queries 4 --attack ES,LTM --curve eps=0..4/255:3":              "would lose: 8 queries instead of 4; --out-dir",
		"--queries 8 --attack ES,LTM --curve eps=0..4/255:2":              "would lose: the scores at eps 2/255; --out-dir",
		"--queries 8 --attack ES,LTM --step 1/255 --curve eps=0..4/255:3": "would lose: step 4/255 instead of 1/255; --out-dir",
	} {
		clitest.Refuse(t, 2, curve+" "+flags, want)
	}
	clitest.Unchanged(t, ".", before, nil)
	clitest.Must(t, 0, curve+" --queries 4 --curve eps=0..4/255:2 --out quick")
	clitest.Must(t, 0, curve+" --queries 4 --curve eps=0..4/255:2 --force")
	if d, _ := record.ReadKept[record.Curve]("runs/tiny/curve.json"); d == nil || d.Queries != 4 {
		t.Errorf("%+v", d)
	}
}

// What is there and up to date is shown, and gates check it; what is not is made.
func TestIfNeeded(t *testing.T) {
	clitest.InTiny(t)
	clitest.Must(t, 0, "train -c tiny.yaml")
	for _, c := range []struct{ line, file, more string }{
		{"attack --run runs/tiny --suite ers --variant both --queries 12 --pgd-steps 1 --examples 0", "attack.json", " --target-draws 2"},
		{"eval --run runs/tiny --no-pictures", "eval.json", " --k 1,2,4,8,16"},
	} {
		path := filepath.Join("runs/tiny", c.file)
		first := clitest.Must(t, 0, c.line) // without the flag: results made before are known
		long := time.Now().Add(-time.Hour)
		if err := os.Chtimes(path, long, long); err != nil {
			t.Fatal(err)
		}
		written := func() bool {
			info, err := os.Stat(path)
			return err != nil || !info.ModTime().Equal(long)
		}
		code, out, stderr := clitest.Run(clitest.ShellWords(c.line + " --if-needed")...)
		if code != 0 || out != first || written() || !strings.Contains(stderr, path+" is up to date") {
			t.Errorf("%s: exit code %d, written %v, %s\n%s", c.line, code, written(), stderr, out)
		}
		clitest.Must(t, 0, c.line+c.more+" --if-needed")
		if !written() {
			t.Errorf("%s%s: not made", c.line, c.more)
		}
	}
	clitest.Must(t, 4, "attack --run runs/tiny --suite ers --queries 12 --pgd-steps 1 --target-draws 2 --if-needed --fail-over ES:D=0")
	clitest.Must(t, 0, "attack --run runs/tiny --suite ers --queries 12 --pgd-steps 1 --target-draws 2 --if-needed --fail-over ES:D=2 --fail-over 'TMA(published)=1'")
	// A result of weights that the run has left behind is made again, without asking.
	const of = `"step": 18`
	b, err := os.ReadFile("runs/tiny/attack.json")
	if err != nil || !strings.Contains(string(b), of) {
		t.Fatalf("%v: no %s", err, of)
	}
	clitest.Put(t, "runs/tiny/attack.json", strings.Replace(clitest.Unsealed(b), of, `"step": 9`, 1))
	clitest.Must(t, 0, "attack --run runs/tiny --queries 2 --pgd-steps 1 --if-needed")
	if d, _ := record.ReadKept[record.Attack]("runs/tiny/attack.json"); d == nil || d.Queries != 2 || d.Source.Step != 18 {
		t.Errorf("%+v", d)
	}
}

func TestElsewhere(t *testing.T) {
	clitest.InTiny(t)
	clitest.Must(t, 0, "train -c tiny.yaml")
	before := clitest.Snapshot(t, "runs")
	const look = "attack --run runs/tiny --pgd-steps 1 --queries 2"
	clitest.Must(t, 0, look+" --out a/b --examples 1")
	clitest.Must(t, 0, look+" --out a/b --curve eps=0..1/255:2")
	clitest.Unchanged(t, "runs", before, nil)
	for _, name := range []string{"attack.json", "curve.json", "figures/attack.png", "figures/attack-curve.png"} {
		if _, err := os.Stat(filepath.Join("a/b", name)); err != nil {
			t.Error(err)
		}
	}
	clitest.Must(t, 0, "train -c tiny.yaml --set name=other --seed 1")
	clitest.Refuse(t, 2, "attack --run runs/other --pgd-steps 1 --queries 2 --out-dir a/b", "would lose: the result of runs/tiny")
	clitest.Must(t, 0, "attack --run runs/other --pgd-steps 1 --queries 2 --out-dir a/b --force")
}

// Weights of a run that has not come to its end are told of.
func TestUnfinishedRuns(t *testing.T) {
	clitest.InTiny(t)
	clitest.Must(t, 0, "train -c tiny.yaml")
	b, err := os.ReadFile("runs/tiny/manifest.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, status := range []string{"interrupted", "running", "finished"} {
		clitest.Put(t, "runs/tiny/manifest.json", strings.Replace(clitest.Unsealed(b), `"status": "finished"`, `"status": "`+status+`"`, 1))
		for _, line := range []string{"eval --run runs/tiny --no-pictures", "attack --run runs/tiny --queries 2 --steps 1 --examples 0", "cluster --run runs/tiny --no-pictures"} {
			_, _, stderr := clitest.Run(clitest.ShellWords(line)...)
			want := "warning: runs/tiny is unfinished (" + status + "): checkpoint last was saved at step 18 of 18"
			if got := strings.Count(stderr, want); got != 1 && status != "finished" || strings.Contains(stderr, "unfinished") && status == "finished" {
				t.Errorf("%s, %s: %s", status, line, stderr)
			}
		}
	}
}

// Tasks that are merged write what one process writes, but for its times; what is missing,
// of other settings or without work is refused.
func TestAttackTasks(t *testing.T) {
	clitest.InTiny(t)
	clitest.Must(t, 0, "train -c tiny.yaml -q")
	const attack = "attack --run runs/tiny --attack ES,CA+ --pgd-steps 2 --bootstrap 100 --queries 8 --per-query"
	clitest.Must(t, 0, attack+" --examples 0 --out-dir one")
	clitest.Refuse(t, 3, attack+" --merge --out-dir many", "many/attack.json.part-1-of-N does not exist")
	doc := clitest.Document(t, attack+" --task 1/1 --out-dir many")
	if doc["queries"] != 8.0 || doc["schema"] != record.AttackPartSchema || doc["adversarial"] != nil {
		t.Errorf("%v", doc)
	}
	before := clitest.Snapshot(t, "many")
	clitest.Must(t, 0, attack+" --task 1/1 --out-dir many") // done
	clitest.Refuse(t, 2, attack+" --task 1/1 --out-dir many --seed 4", "many/attack.json.part-1-of-1 is of another attack (other options); remove it, or write elsewhere")
	clitest.Unchanged(t, "many", before, nil)
	clitest.Must(t, 0, attack+" --task 1/1 --out-dir many --seed 4 --force")
	clitest.Must(t, 0, attack+" --task 1/1 --out-dir many --force")
	clitest.Must(t, 0, attack+" --merge --out-dir many")
	one, many := attackWithoutTime(t, "one"), attackWithoutTime(t, "many")
	if one != many {
		t.Errorf("merged:\n%s\nin one process:\n%s", many, one)
	}
	// The embeddings that tasks share: what they are of decides whether they are read.
	read := func() string {
		b, err := os.ReadFile("many/attack.json.gallery")
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	gallery := read()
	written, err := os.Stat("many/attack.json.gallery")
	if err != nil {
		t.Fatal(err)
	}
	clitest.Must(t, 0, attack+" --task 1/1 --out-dir many --force")
	if now, err := os.Stat("many/attack.json.gallery"); err != nil || !os.SameFile(written, now) {
		t.Errorf("a task wrote the embeddings again (%v)", err)
	}
	for _, put := range []string{"", "{", strings.Replace(gallery, `"step\":`, `"step\":1`, 1), gallery[:len(gallery)-1] + "\x7f"} {
		if put == gallery {
			t.Fatal("nothing was changed")
		}
		clitest.Put(t, "many/attack.json.gallery", put)
		clitest.Must(t, 0, attack+" --task 1/1 --out-dir many --force")
		if now := read(); now != gallery {
			t.Errorf("a file of other embeddings of %d bytes was kept", len(put))
		}
		clitest.Must(t, 0, attack+" --merge --out-dir many --force")
		if many := attackWithoutTime(t, "many"); one != many {
			t.Errorf("merged after a file of other embeddings:\n%s", many)
		}
	}
	// Where they cannot be kept, the task says so and computes its own.
	if err := errors.Join(os.Remove("many/attack.json.gallery"), os.Mkdir("many/attack.json.gallery", 0o755)); err != nil {
		t.Fatal(err)
	}
	code, _, stderr := clitest.Run(clitest.ShellWords(attack + " --task 1/1 --out-dir many --force")...)
	if n := strings.Count(stderr, "warning: the embeddings were not kept, so each task computes them: "); code != 0 || n != 1 || !strings.Contains(stderr, "attack.json.gallery") {
		t.Errorf("a folder in place of the embeddings: exit code %d, %s", code, stderr)
	}
	for flags, want := range map[string]string{
		"--task 1/2":                      "work for at most 1 tasks",
		"--task 1/1 --fail-over ES:D=0.5": "for the merged result; add --merge",
		"--task 1/1 --examples 2":         "cannot be combined",
		"--merge --curve eps=0..0.1:2":    "cannot be combined",
		"--merge --eps 1/255 --force":     "is of another attack (other options)",
		"--merge --seed 4 --force":        "is of another attack (other options)",
	} {
		clitest.Refuse(t, 2, attack+" --out-dir many "+flags, want)
	}
	clitest.Put(t, "many/attack.json.part-1-of-1", "{")
	clitest.Refuse(t, 3, attack+" --merge --force --out-dir many", "attack.json.part-1-of-1")
}

func attackWithoutTime(t *testing.T, dir string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, "attack.json"))
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, line := range strings.Split(clitest.Unsealed(b), "\n") {
		if !strings.Contains(line, `"seconds"`) {
			out = append(out, line)
		}
	}
	return strings.Join(out, "\n")
}
