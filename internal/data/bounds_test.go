package data

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"tercet/internal/testutil"
)

// TestFolderNamesAllBadFiles: one bad file of many used to stop the reading, the next
// one the next reading.
func TestFolderNamesAllBadFiles(t *testing.T) {
	px := encodePNG(t, gray(40, 40, func(y, x int) uint8 { return uint8(y*x*7 ^ y) }))
	half := px[:len(px)/2]
	root := testutil.Tree(t, map[string][]byte{"train/a/1.png": px, "train/a/2.png": nil, "train/b/1.png": px, "train/b/2.jpg": []byte("x"), "test/a/1.png": nil, "test/a/2.png": px})
	_, _, err := openFolder(t.Context(), root, "", "", ImageOptions{}, nil)
	testutil.WantError(t, err, ErrFormat, "3 of 6 images cannot be read: ", "train/a/2.png: ", "; "+filepath.Join(root, "train/b/2.jpg"), "test/a/1.png")
	root = testutil.Tree(t, map[string][]byte{"a/1.png": half, "a/2.png": px, "a/3.png": half})
	_, _, err = openFolder(t.Context(), root, "", "", ImageOptions{}, nil)
	testutil.WantError(t, err, ErrFormat, "2 of 3 images cannot be read: ", "a/1.png", "a/3.png")
	// Bad headers were named in a first round, truncated files of both folders in a second and third.
	root = testutil.Tree(t, map[string][]byte{"train/a/1.png": px, "train/a/2.png": nil, "train/b/1.png": half, "train/b/2.png": px, "test/a/1.png": half, "test/a/2.png": px})
	_, _, err = openFolder(t.Context(), root, "", "", ImageOptions{}, nil)
	testutil.WantError(t, err, ErrFormat, "3 of 6 images cannot be read: ", "train/a/2.png: ", "train/b/1.png: ", "test/a/1.png: ")
	root = testutil.Tree(t, map[string][]byte{"train/a/1.png": px, "train/a/2.png": half, "test/a/1.png": half, "test/a/2.png": px})
	_, _, err = openFolder(t.Context(), root, "", "", ImageOptions{}, nil)
	testutil.WantError(t, err, ErrFormat, "2 of 4 images cannot be read: ", "train/a/2.png: ", "test/a/1.png: ")
	files := map[string][]byte{}
	for i := range 30 {
		files[fmt.Sprintf("a/%02d.png", i)] = nil
	}
	_, _, err = openFolder(t.Context(), testutil.Tree(t, files), "", "", ImageOptions{}, nil)
	testutil.WantError(t, err, ErrFormat, "30 of 30 images", "19.png", "and 10 more")
	if strings.Contains(err.Error(), "20.png") {
		t.Errorf("more than %d files are named: %v", maxListed, err)
	}
}

// TestLeftOut counts images of formats that are not read; files that are no images are
// nobody's loss.
func TestLeftOut(t *testing.T) {
	px := encodePNG(t, flat(2, 2, 9))
	root := testutil.Tree(t, map[string][]byte{
		"a/1.png": px, "a/1.gif": nil, "a/2.GIF": nil, "a/3.webp": nil, "a/4": px, "a/5.dat": []byte("GIF89a...."),
		"a/.DS_Store": px, "a/Thumbs.db": px, "a/notes.txt": []byte("text"), "b/1.png": px, "b/2.jfif": nil,
	})
	o := FolderOptions{Root: root}
	const want = "6 files are neither PNG nor JPEG and were left out: .gif 2, .dat 1, .jfif 1, .webp 1, without extension 1"
	if got := LeftOut(Options{Source: o}); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	o.Root = testutil.Tree(t, map[string][]byte{"train/a/1.png": px, "test/a/1.png": px, "test/a/2.bmp": nil})
	o.Train, o.Test = "train", "test"
	if got := LeftOut(Options{Source: o}); got != "1 file is neither PNG nor JPEG and was left out: .bmp 1" {
		t.Error(got)
	}
	if got := LeftOut(Options{Source: FolderOptions{Root: testutil.Tree(t, map[string][]byte{"a/1.png": px, "a/x.xml": []byte("<a/>")})}}); got != "" {
		t.Error(got)
	}
}
