package data

import (
	"errors"
	"strings"
	"tercet/internal/testutil"
	"testing"
)

func TestSurveyFolder(t *testing.T) {
	small, wide := encodePNG(t, flat(4, 4, 9)), encodePNG(t, flat(4, 8, 9))
	for _, tc := range []struct {
		files map[string][]byte
		want  folderSurvey
	}{
		{map[string][]byte{"a/1.png": small, "b/1.png": small}, folderSurvey{Classes: 2, Images: 2, Shortest: 4, Longest: 4, Square: true, Uniform: true}},
		{map[string][]byte{"a/1.png": small, "b/1.png": wide}, folderSurvey{Classes: 2, Images: 2, Shortest: 4, Longest: 8}},
		{map[string][]byte{"a/1.png": wide, "b/1.png": wide}, folderSurvey{Classes: 2, Images: 2, Shortest: 4, Longest: 8, Uniform: true}},
		{map[string][]byte{"train/a/1.png": small, "train/b/1.png": small, "test/c/1.png": wide}, folderSurvey{Train: "train", Test: "test", Classes: 2, Images: 3, Shortest: 4, Longest: 8}},
		{map[string][]byte{"train/a/1.png": small, "val/c/1.png": small}, folderSurvey{Train: "train", Test: "val", Classes: 1, Images: 2, Shortest: 4, Longest: 4, Square: true, Uniform: true}},
		// A class may be called train.
		{map[string][]byte{"train/1.png": small, "plane/1.png": small}, folderSurvey{Classes: 2, Images: 2, Shortest: 4, Longest: 4, Square: true, Uniform: true}},
	} {
		got, err := surveyFolder(t.Context(), testutil.Tree(t, tc.files))
		if err != nil || *got != tc.want {
			t.Errorf("got %+v, error %v, want %+v", got, err, tc.want)
		}
	}
	_, err := surveyFolder(t.Context(), testutil.Tree(t, map[string][]byte{"a/1.png": []byte("x"), "a/2.png": []byte("y"), "b/1.png": small}))
	if !errors.Is(err, ErrFormat) || !strings.Contains(err.Error(), "2 of 3 images cannot be read") {
		t.Errorf("got %v", err)
	}
}
