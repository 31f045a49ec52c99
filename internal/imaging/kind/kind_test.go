package kind

import (
	"net/http"
	"strings"
	"testing"
)

// Of gives what net/http says of images, and empty for all else, cut files included.
func TestOfAgreesWithHTTP(t *testing.T) {
	files := []string{"", "text", "<svg xmlns=''/>", "GIF88a", "BM", "B", "RIFF1234WAVEfmt ", "RIFFabcdWEBPVP8 ", "\x00\x00\x03\x00", "%PDF-1.4", "\x00\x00\x01\x00\x01"}
	for _, k := range kinds {
		files = append(files, k.begin, k.begin+"more", k.begin[1:], k.begin[:len(k.begin)-1], "x"+k.begin)
	}
	images := 0
	for _, f := range files {
		want := http.DetectContentType([]byte(f))
		if !strings.HasPrefix(want, "image/") {
			want = ""
		} else {
			images++
		}
		if got := Of([]byte(f)); got != want {
			t.Errorf("%q is %q, want %q", f, got, want)
		}
	}
	if images < 2*len(kinds) {
		t.Errorf("only %d of the files are images", images)
	}
}
