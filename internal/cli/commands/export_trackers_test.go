package commands

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tercet/internal/cli/base"
	"tercet/internal/cli/clitest"
)

func TestExportTrackers(t *testing.T) {
	clitest.InTiny(t)
	clitest.Must(t, 0, "train tiny.yaml -q")
	before := clitest.Snapshot(t, "runs")
	clitest.Must(t, 0, "export tensorboard runs/tiny --out boards --points 7")
	first := clitest.Snapshot(t, "boards")
	clitest.Must(t, 0, "export tensorboard runs --out boards --points 7")
	clitest.Unchanged(t, "boards", first, nil)
	clitest.Must(t, 0, "export mlflow runs/tiny --out mlruns")
	clitest.Must(t, 0, "export csv runs/tiny --out numbers.csv")
	if out := clitest.Must(t, 0, "export csv runs/tiny"); !strings.Contains(out, "\ntiny,train/loss,3,") {
		t.Errorf("%s", out)
	}
	clitest.Unchanged(t, "runs", before, nil)
	if files, err := filepath.Glob("boards/tiny/*"); err != nil || len(files) != 5 {
		t.Errorf("%v %v", files, err)
	}
	clitest.Put(t, "mine.csv", "precious\n")
	clitest.Must(t, 0, "export csv runs/tiny --out numbers.csv") // over the table of before
	clitest.Must(t, 0, "export csv runs/tiny --out new/numbers.csv")
	for line, want := range map[string]string{
		"export csv runs/tiny --out mine.csv":                 "mine.csv was not written by export csv and is not replaced; give another --out",
		"export csv runs/tiny --out runs/tiny/config.yaml":    "is part of the run",
		"export csv runs/tiny --out mine.csv/x.csv":           "mine.csv is not a folder",
		"export tensorboard runs/tiny":                        "say where to write",
		"export tensorboard runs/tiny --out tiny.yaml":        "is a file; give a folder",
		"export tensorboard runs/tiny --out runs/tiny":        "is a run; give another folder",
		"export mlflow runs/tiny --out ./runs":                "is the folder of tiny; give another folder",
		"export tensorboard runs/tiny --out b --points 70000": "--points is 70000; give at most 65536",
		"export csv runs/tiny --out runs/tiny/events.jsonl":   "is part of the run",
		"export mlflow runs/tiny --out m --experiment ''":     "--experiment is empty",
		"runs extend runs/tiny --epochs 4 --schedule slow":    `--schedule is "slow"`,
		"runs extend runs/tiny --epochs 4 --name tiny":        "runs/tiny already exists",
		"runs extend runs/tiny --epochs 2":                    "has 2 epochs already",
		"watch runs --interval 0s":                            "--interval is 0s",
	} {
		clitest.Refuse(t, base.ExitUsage, line, want)
	}
	f, err := os.OpenFile("runs/tiny/events.jsonl", os.O_APPEND|os.O_WRONLY, 0)
	if err == nil {
		_, err = f.WriteString("garbage\n")
		f.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	clitest.Refuse(t, base.ExitData, "export tensorboard runs/tiny --out c", "not valid JSON")
	boards, mlruns := clitest.Snapshot(t, "boards"), clitest.Snapshot(t, "mlruns")
	clitest.Refuse(t, base.ExitData, "export tensorboard runs/tiny --out boards", "not valid JSON")
	clitest.Refuse(t, base.ExitData, "export mlflow runs/tiny --out mlruns", "not valid JSON")
	clitest.Unchanged(t, "boards", boards, nil) // an earlier export stays
	clitest.Unchanged(t, "mlruns", mlruns, nil)
	clitest.Must(t, 0, "runs extend runs/tiny --epochs 3")
	if out := clitest.Must(t, 0, "train --resume runs/tiny-3-epochs"); out != "runs/tiny-3-epochs\n" {
		t.Errorf("%q", out)
	}
}
