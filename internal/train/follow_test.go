package train

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"tercet/internal/record"
	"tercet/internal/testutil"
)

func TestFollower(t *testing.T) {
	path := filepath.Join(t.TempDir(), "events.jsonl")
	f := Follower{Path: path}
	read := func() (out string) {
		t.Helper()
		if err := f.Next(func() { out += "again " }, func(e *record.Event) { out += fmt.Sprintf("%s %d ", e.Kind, e.Step) }); err != nil {
			t.Fatal(err)
		}
		return out
	}
	add := func(text string) {
		t.Helper()
		file, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY|os.O_CREATE, 0o644)
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		if _, err := file.WriteString(text); err != nil {
			t.Fatal(err)
		}
	}
	for i, step := range []struct {
		do   func()
		want string
	}{
		{func() {}, ""},
		{func() { add(`{"event":"start","step":0}` + "\n" + `{"event":"step","st`) }, "start 0 "},
		{func() {}, ""},
		{func() { add(`ep":3}` + "\n") }, "step 3 "},
		{func() { add("no event\n" + `{"event":"step","step":6}` + "\n") }, "step 6 "},
		{func() { // as a resumed run does: another file in its place
			testutil.Write(t, path+".new", `{"event":"start","step":0}`+"\n"+`{"event":"resume","step":3}`+"\n")
			if err := os.Rename(path+".new", path); err != nil {
				t.Fatal(err)
			}
		}, "again start 0 resume 3 "},
		{func() { testutil.Write(t, path, `{"event":"start","step":0}`+"\n") }, "again start 0 "},
		{func() { os.Remove(path) }, ""},
	} {
		step.do()
		if got := read(); got != step.want {
			t.Errorf("%d: %q, want %q", i, got, step.want)
		}
	}
}
