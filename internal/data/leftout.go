package data

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"tercet/internal/fsx"
	"tercet/internal/imaging/kind"
)

// otherImages are the ends of names of images that are not read.
var otherImages = strings.Fields(".gif .webp .bmp .dib .tif .tiff .jfif .jpe .heic .heif .avif .jxl .jp2 .j2k .ppm .pgm .pbm .pnm .pam .ico .svg .tga .psd .exr .hdr .dng .cr2 .nef .arw")

// LeftOut says which images of the folders are in a format that is not read, and so were
// passed over: "5 files are neither PNG nor JPEG and were left out: .gif 1, .webp 4". It
// returns "" where there are none.
func (s FolderOptions) LeftOut(o Options) string {
	count := map[string]int{}
	for _, root := range s.folders(o) {
		classes, err := subfolders(root)
		if err != nil {
			continue // opening the source says so
		}
		for _, class := range classes {
			countOthers(filepath.Join(root, class), count)
		}
	}
	n := 0
	var kinds []string
	for _, end := range slices.SortedFunc(maps.Keys(count), func(a, b string) int {
		return cmp.Or(cmp.Compare(count[b], count[a]), cmp.Compare(a, b))
	}) {
		n += count[end]
		kinds = append(kinds, fmt.Sprintf("%s %d", end, count[end]))
	}
	switch n {
	case 0:
		return ""
	case 1:
		return "1 file is neither PNG nor JPEG and was left out: " + kinds[0]
	}
	return fmt.Sprintf("%d files are neither PNG nor JPEG and were left out: %s", n, strings.Join(kinds, ", "))
}

// folders are the folders whose folders are classes, as openFolder finds them.
func (s FolderOptions) folders(o Options) []string {
	a, b := s.named(o)
	if subs, err := subfolders(s.Root); err == nil {
		return folderRoots(s.Root, a, b, subs)
	}
	return nil
}

// countOthers counts the images in dir that are not read, by the end of their names.
// Files whose names do not decide are looked into.
func countOthers(dir string, count map[string]int) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		if hidden(e.Name()) || isImage(e.Name()) || strings.EqualFold(e.Name(), "Thumbs.db") {
			continue
		}
		end := strings.ToLower(filepath.Ext(e.Name()))
		if slices.Contains(otherImages, end) {
			count[end]++
			continue
		}
		if sniff(filepath.Join(dir, e.Name())) != "" {
			count[cmp.Or(end, "without extension")]++
		}
	}
}

// sniff tells the type of an image by its first bytes; "" of what is none or cannot be read.
func sniff(path string) string {
	f, _, err := fsx.OpenRegular(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	b := make([]byte, 512)
	n, err := io.ReadFull(f, b)
	if err != nil && n == 0 {
		return ""
	}
	return kind.Of(b[:n])
}
