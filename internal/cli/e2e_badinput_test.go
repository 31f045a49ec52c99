package cli_test

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tercet/internal/cli/base"
	"tercet/internal/cli/clitest"
)

// Each kind of bad training data is one error with exit code 3, and nothing but
// the new run's own directory is written.
func TestBadTrainingData(t *testing.T) {
	clitest.InTiny(t)
	const n, side = 32, 8
	images, labels := clitest.Idx(clitest.Ramp(n*side*side), n, side, side), clitest.Idx(clitest.Digits(n), n)
	clitest.Put(t, "idx/x", images)
	clitest.Put(t, "idx/y", labels)
	clitest.Put(t, "idx/cut", images[:len(images)-7])
	clitest.Put(t, "idx/long", images+"more")
	clitest.Put(t, "idx/magic", "PK\x03\x04"+images)
	clitest.Put(t, "idx/huge", clitest.Idx(nil, math.MaxInt32, 10000, 10000))
	clitest.Put(t, "idx/few", clitest.Idx(clitest.Digits(n-1), n-1))
	clitest.Put(t, "idx/one", clitest.Idx(make([]byte, n), n))
	clitest.Put(t, "idx/odd", clitest.Idx(append([]byte{9}, clitest.Digits(n-1)...), n))
	each := make([]byte, n)
	for i := range each {
		each[i] = byte(i)
	}
	clitest.Put(t, "idx/alone", clitest.Idx(each, n))
	clitest.Put(t, "idx/empty", "")
	packed := clitest.Gz(images)
	clitest.Put(t, "idx/x.gz", packed)
	clitest.Put(t, "idx/cut.gz", packed[:len(packed)/2])
	clitest.Put(t, "idx/bad.gz", packed[:20]+"\xff\xff\xff\xff"+packed[24:])

	record := append([]byte{1}, clitest.Ramp(3072)...)
	clitest.Put(t, "cifar/data_batch_1.bin", string(record[:1000]))
	clitest.Put(t, "cifar/test_batch.bin", string(record))
	clitest.Put(t, "label/data_batch_1.bin", string(append([]byte{200}, record[1:]...)))
	clitest.Put(t, "label/test_batch.bin", string(record))

	for _, set := range []string{"train", "test"} {
		for _, class := range []string{"a", "b"} {
			for _, name := range []string{"1.png", "2.png", "3.png"} {
				for _, root := range []string{"ok", "torn", "text", "size", "hollow"} {
					clitest.Put(t, filepath.Join(root, set, class, name), clitest.PicturePNG(8))
				}
			}
		}
	}
	clitest.Put(t, "torn/train/b/2.png", clitest.PicturePNG(8)[:60])
	clitest.Put(t, "text/train/b/2.png", "no picture")
	clitest.Put(t, "size/train/b/2.png", clitest.PicturePNG(9))
	clitest.Put(t, "hollow/train/c/notes.txt", "no picture")

	npy := clitest.Vectors(t, "ok.npy", n, 4)
	clitest.Put(t, "npy/ok.npy", npy)
	clitest.Put(t, "npy/cut.npy", npy[:len(npy)-3])
	clitest.Put(t, "npy/head.npy", npy[:30])
	clitest.Put(t, "npy/huge.npy", strings.Replace(npy, "(32, 4)", "(1e9, 4)", 1))
	clitest.Vectors(t, "npy/nan.npy", n, 4, 1, 2, 3, float32(math.NaN()))
	clitest.Put(t, "npy/y.csv", strings.Repeat("a\nb\nc\nd\n", n/4))
	clitest.Put(t, "npy/few.csv", "a\nb\n")
	clitest.Put(t, "npy/gap.csv", "a\n\nb\n")

	before := clitest.Snapshot(t, ".")
	common := "train --set name=x --set model=linear --set model.embedding=4 --set train.epochs=1 --set batch.pairs=4 "
	fraction := "--set 'data.split={kind: fraction, train: 0.5}' "
	files := func(root, name, x, y string) string {
		return common + fraction + "--set data.name=" + name + " --set data.root=" + root + " --set 'data.train={" + x + ", " + y + "}'"
	}
	idxFiles := func(x, y string) string { return files("idx", "idx", "images: "+x, "labels: "+y) }
	npyFiles := func(x, y string) string { return files("npy", "npy", "vectors: "+x, "labels: "+y) }
	folder := func(root string) string { return common + "--set data.name=folder --set data.root=" + root }
	for _, tc := range []struct{ what, line, want string }{
		{"truncated IDX", idxFiles("cut", "y"), "idx/cut: truncated"},
		{"too long IDX", idxFiles("long", "y"), "idx/long"},
		{"not IDX", idxFiles("magic", "y"), "not an IDX file"},
		{"empty IDX", idxFiles("empty", "y"), "idx/empty"},
		{"a header beyond memory", idxFiles("huge", "y"), "idx/huge"},
		{"images for labels", idxFiles("x", "x"), "are images and labels swapped?"},
		{"labels without images", idxFiles("x", "few"), "32"},
		{"no such file", idxFiles("gone", "y"), "idx/gone"},
		{"truncated gzip", idxFiles("cut.gz", "y"), "idx/cut.gz"},
		{"corrupt gzip", idxFiles("bad.gz", "y"), "idx/bad.gz"},
		{"one class only", idxFiles("x", "one"), "class"},
		{"a class with one sample, where two are needed", idxFiles("x", "odd") + " --set batch.sampler=class-pairs-distinct --set batch.pairs=5", "4 classes have two samples or more"},
		{"classes of one sample only", strings.Replace(idxFiles("x", "alone"), "kind: fraction", "kind: class", 1), "is alone in its class"},
		{"truncated CIFAR", common + "--set data.name=cifar10 --set data.root=cifar", "record 0 at offset 0 has 1000 of 3073 bytes"},
		{"a label beyond CIFAR-10", common + "--set data.name=cifar10 --set data.root=label", "label 200"},
		{"no such folder", common + "--set data.name=mnist --set data.root=gone", "gone"},
		{"truncated PNG", folder("torn"), "torn/train/b/2.png"},
		{"no PNG", folder("text"), "text/train/b/2.png"},
		{"pictures of two sizes", folder("size"), "set data.size"},
		{"a class without images", folder("hollow"), "hollow/train/c"},
		{"fewer samples than a batch", strings.Replace(folder("ok"), "batch.pairs=4", "batch.pairs=400", 1), "pairs"},
		{"truncated npy", npyFiles("cut.npy", "y.csv"), "npy/cut.npy: truncated"},
		{"half a header of npy", npyFiles("head.npy", "y.csv"), "npy/head.npy"},
		{"a bad header of npy", npyFiles("huge.npy", "y.csv"), "npy/huge.npy"},
		{"NaN", npyFiles("nan.npy", "y.csv"), "row 0"},
		{"labels missing", npyFiles("ok.npy", "few.csv"), "2 labels"},
		{"an empty line of labels", npyFiles("ok.npy", "gap.csv"), "npy/gap.csv:2: empty line"},
	} {
		t.Run(tc.what, func(t *testing.T) { clitest.Refuse(t, base.ExitData, tc.line, tc.want) })
	}
	clitest.Unchanged(t, ".", before, func(path string) bool { return strings.HasPrefix(path, "runs/x/") })
	// What can be trained is, and in the directory that all those runs left.
	clitest.Must(t, 0, idxFiles("x.gz", "y"))
	clitest.Must(t, 0, npyFiles("ok.npy", "y.csv")+" --set name=y")
	// The published sampler takes a single sample twice, and says so.
	_, _, stderr := clitest.Run(clitest.ShellWords(idxFiles("x", "odd") + " --set name=z")...)
	if !strings.Contains(stderr, "paired with themselves") {
		t.Errorf("no word of the sample that is alone: %s", stderr)
	}
}

func TestBadEmbeddings(t *testing.T) {
	t.Chdir(t.TempDir())
	npy := clitest.Vectors(t, "ok.npy", 8, 3)
	clitest.Put(t, "cut.npy", npy[:len(npy)-1])
	clitest.Vectors(t, "nan.npy", 8, 3, 1, float32(math.NaN()))
	clitest.Vectors(t, "inf.npy", 8, 3, float32(math.Inf(-1)))
	clitest.Vectors(t, "zero.npy", 8, 3, 0, 0, 0)
	clitest.Put(t, "y.csv", "0\n0\n1\n1\n2\n2\n3\n3\n")
	clitest.Put(t, "one.csv", strings.Repeat("7\n", 8))
	clitest.Put(t, "single.csv", "0\n1\n2\n3\n4\n5\n6\n7\n")
	clitest.Put(t, "few.csv", "0\n1\n")
	before := clitest.Snapshot(t, ".")
	for _, tc := range []struct {
		line string
		code int
		want string
	}{
		{"eval --embeddings cut.npy --labels y.csv", 3, "cut.npy: truncated"},
		{"eval --embeddings nan.npy --labels y.csv", 3, "row 0"},
		{"cluster --embeddings inf.npy -k 2", 3, "row 0"},
		{"eval --embeddings gone.npy --labels y.csv", 3, "gone.npy"},
		{"eval --embeddings y.csv --labels y.csv", 3, "not an npy file"},
		{"eval --embeddings ok.npy --labels few.csv", 3, "few.csv has 2 labels, ok.npy has 8 rows"},
		{"eval --embeddings ok.npy --labels one.csv", 3, "are of one class"},
		{"eval --embeddings ok.npy --labels single.csv", 3, "none of the 8 queries"},
		{"eval --embeddings zero.npy --labels y.csv --distance cosine", 3, "row 0 is zero"},
		{"eval --embeddings ok.npy", 2, "--embeddings needs --labels"},
		{"eval --embeddings ok.npy --labels y.csv --k 0", 2, "--k"},
		{"eval --embeddings ok.npy --labels y.csv --clusters -1", 2, "--clusters"},
		{"eval --embeddings ok.npy --labels y.csv --clusters 9", 3, "k = 9 clusters of 8 rows"},
		{"eval --embeddings ok.npy --labels y.csv --n-init 0", 2, "--n-init"},
		{"eval --embeddings ok.npy --labels y.csv --bootstrap -1", 2, "--bootstrap"},
		{"eval --embeddings ok.npy --labels y.csv --bootstrap 99", 2, "give at least 100, or 0 for none"},
		{"eval --embeddings ok.npy --labels y.csv --if-needed", 2, "leave out --if-needed"},
		{"eval --embeddings ok.npy --labels y.csv --bootstrap 100000000000", 2, "at most 1000000"},
		{"eval --embeddings ok.npy --labels y.csv --distance manhattan", 2, "--distance"},
		{"cluster --embeddings ok.npy", 2, "-k 10"},
		{"cluster --embeddings ok.npy -k 9", 2, "9 clusters of 8 items"},
		{"cluster --embeddings ok.npy -k -1", 2, "--clusters"},
		{"eval", 2, "--run DIRECTORY, or --embeddings FILE.npy"},
		{"eval --run gone", 3, "gone does not exist; a run directory is what `tercet train` makes"},
	} {
		t.Run(tc.line, func(t *testing.T) { clitest.Refuse(t, tc.code, tc.line, tc.want) })
	}
	clitest.Unchanged(t, ".", before, nil)
	_, _, stderr := clitest.Run("cluster", "--embeddings", "ok.npy", "--labels", "one.csv", "-k", "2")
	if !strings.Contains(stderr, "all items are of one class") {
		t.Errorf("no warning: %s", stderr)
	}
}

// Points that all coincide have no principal components; what can be drawn is.
func TestClustersOfEqualPoints(t *testing.T) {
	t.Chdir(t.TempDir())
	clitest.Vectors(t, "same.npy", 4, 2, 1, 1, 1, 1, 1, 1, 1, 1)
	if code, _, stderr := clitest.Run(clitest.ShellWords("cluster --embeddings same.npy -k 2 --out-dir c")...); code != 0 || strings.Contains(stderr, "cluster-sizes.png: open") {
		t.Errorf("exit %d: %s", code, stderr)
	}
	if _, err := os.Stat("c/figures/cluster-sizes.png"); err != nil {
		t.Error(err)
	}
}
