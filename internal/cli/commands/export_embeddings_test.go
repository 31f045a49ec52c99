package commands_test

import (
	"bytes"
	"os"
	"reflect"
	"slices"
	"testing"

	"tercet/internal/cli/base"
	"tercet/internal/cli/clitest"
	"tercet/internal/data/npy"
	"tercet/internal/vectors"
)

// Every format of an export holds the embeddings that --save-embeddings writes, and eval
// gives it the same scores; bytes are off by half a step.
func TestExportedFormats(t *testing.T) {
	clitest.InTiny(t)
	clitest.Must(t, 0, "train -c tiny.yaml")
	clitest.Must(t, 0, "eval --run runs/tiny --save-embeddings X.npy --limit 40")
	want, err := npy.Read("X.npy")
	if err != nil {
		t.Fatal(err)
	}
	scores := clitest.Document(t, "eval --embeddings X.npy --labels X.labels.npy --no-kmeans")["retrieval"]
	for _, format := range vectors.Written() {
		name := "Y/" + format + "." + format
		doc := clitest.Document(t, "export embeddings runs/tiny --limit 40 --out "+name)
		f, err := vectors.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		got, err := f.All()
		f.Close()
		if err != nil {
			t.Fatal(err)
		}
		for _, ends := range []string{".labels.npy", ".items.csv"} {
			a, _ := os.ReadFile("X" + ends)
			if b, err := os.ReadFile("Y/" + format + ends); err != nil || !bytes.Equal(a, b) {
				t.Errorf("%s%s differs, error %v", format, ends, err)
			}
		}
		if scale, ok := doc["bytes"].(map[string]any); ok {
			offset, step := scale["offset"].(float64), scale["step"].(float64)
			for i, v := range got {
				if off := offset + step*float64(v) - float64(want.Data[i]); off > 0.51*step || off < -0.51*step {
					t.Fatalf("%s: number %d is off by %v steps", format, i, off/step)
				}
			}
			continue
		}
		if !slices.Equal(got, want.Data) {
			t.Errorf("%s: other numbers", format)
		}
		if s := clitest.Document(t, "eval --embeddings "+name+" --labels X.labels.npy --no-kmeans")["retrieval"]; !reflect.DeepEqual(s, scores) {
			t.Errorf("%s: scores %v, want %v", format, s, scores)
		}
	}
	clitest.Must(t, 0, "embed --run runs/tiny --out folder")
	clitest.Must(t, 0, "export embeddings folder --out Z.fbin")
	clitest.Must(t, 0, "export embeddings runs/tiny --out all.fbin")
	a, _ := os.ReadFile("all.fbin")
	if b, err := os.ReadFile("Z.fbin"); err != nil || !bytes.Equal(a, b) {
		t.Errorf("an exported folder differs from its run, error %v", err)
	}
	before := clitest.Snapshot(t, ".")
	for _, line := range []string{
		"export embeddings folder --force --out folder/embeddings.npy", "eval --embeddings folder --no-kmeans --force --out folder/embed.json",
		"eval --embeddings folder --no-kmeans --class-scores folder/items.csv",
		"cluster --embeddings folder --threshold 0.5 --map none --graph-neighbors 2 --save-graph folder/embeddings.npy",
	} {
		clitest.Refuse(t, 2, line, "is what the command reads")
	}
	clitest.Unchanged(t, ".", before, nil)
	for args, say := range map[string]string{
		"runs/tiny":                                                    "--out FILE",
		"runs/tiny --out Z":                                            "give --format, one of npy, fbin, fvecs, u8bin, bvecs",
		"runs/tiny --out Z.ivecs":                                      `the format "ivecs" is not written`,
		"runs/tiny --out Z.npy --format fbin":                          "ends in another format",
		"runs/tiny --limit 9 --out Z.fbin":                             "replacing Z.fbin would lose",
		"folder --out Z.fbin --split train":                            "--split: only for runs",
		"runs/tiny --out Z.fbin --limit -1":                            "--limit is -1",
		"runs/tiny --format npy --out runs/tiny/manifest.json --force": "is part of the run",
	} {
		clitest.Refuse(t, base.ExitUsage, "export embeddings "+args, say)
	}
}
