package train

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tercet/internal/record"
)

func TestLogDropsWhatTheCheckpointHasNotSeen(t *testing.T) {
	path := filepath.Join(t.TempDir(), "events.jsonl")
	log, err := OpenLog(path, 0)
	if err != nil {
		t.Fatal(err)
	}
	for step := range 10 {
		if err := log.Write(&record.Event{Kind: "step", Step: step, Loss: new(float64(step))}); err != nil {
			t.Fatal(err)
		}
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	f, _ := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	f.WriteString(`{"event":"step","st`) // a killed process
	f.Close()
	if got, err := ReadEvents(path); err != nil || len(got) != 10 {
		t.Fatalf("read %d events, error %v", len(got), err)
	}
	log, err = OpenLog(path, 4)
	if err != nil {
		t.Fatal(err)
	}
	log.Write(&record.Event{Kind: "step", Step: 5, Note: "again"})
	log.Close()
	got, err := ReadEvents(path)
	if err != nil || len(got) != 6 || got[4].Step != 4 || got[5].Note != "again" {
		t.Fatalf("events %+v, error %v", got, err)
	}
}

func TestReadEventsNamesTheBadLine(t *testing.T) {
	path := filepath.Join(t.TempDir(), "events.jsonl")
	os.WriteFile(path, []byte("{\"event\":\"start\",\"step\":0}\nrubbish\n"), 0o644)
	if _, err := ReadEvents(path); err == nil || !strings.Contains(err.Error(), "events.jsonl:2:") {
		t.Fatalf("error %v", err)
	}
}

// A line that is no event is put aside with the log that has it; the events behind it
// stay. What says that the run has ended does not.
func TestADamagedLineCostsItself(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "events.jsonl")
	line := func(kind string, step int) string { return fmt.Sprintf(`{"event":"%s","step":%d}`, kind, step) + "\n" }
	head := line("start", 0) + line("step", 1)
	tail := line("step", 3) + line("stop", 3)
	for name, bad := range map[string]string{
		"a flipped bit": strings.Replace(line("step", 2), "step\":2", "sfep\":2", 1),
		"zeros":         strings.Repeat("\x00", 3<<20) + "\n",
		"cut":           `{"event":"st` + "\n",
	} {
		whole := head + bad + tail + line("step", 4) + "rubbish\n" + `{"event":"st`
		os.WriteFile(path, []byte(whole), 0o644)
		before, err := os.Open(path) // as another process has it
		if err != nil {
			t.Fatal(err)
		}
		log, err := OpenLog(path, 3, "end", "stop")
		if err != nil {
			t.Fatal(err)
		}
		if log.Lost != 1 || filepath.Dir(log.Aside) != dir {
			t.Errorf("%s: %d lines lost, aside %q", name, log.Lost, log.Aside)
		}
		if b, err := os.ReadFile(log.Aside); err != nil || string(b) != whole {
			t.Errorf("%s: what was put aside differs (%v)", name, err)
		}
		if err := log.Close(); err != nil {
			t.Fatal(err)
		}
		if b, _ := os.ReadFile(path); string(b) != head+line("step", 3) {
			t.Errorf("%s: the log is %q", name, b)
		}
		x, _ := before.Stat()
		if y, _ := os.Stat(path); os.SameFile(x, y) {
			t.Errorf("%s: another process still writes into the log", name)
		}
		before.Close()
	}
	if log, err := OpenLog(path, -1); err != nil || log.Aside != "" || log.Close() != nil {
		t.Errorf("%+v, %v", log, err)
	}
	if info, err := os.Stat(path); err != nil || info.Size() != 0 {
		t.Errorf("events are left before the first step: %v %v", info, err)
	}
}

// A log without line ends is refused at the length of a line, not read as a whole.
func TestALineOfALogIsBounded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "events.jsonl")
	long := "{\"event\":\"start\",\"step\":0}\n" + strings.Repeat(" ", 2*maxLine) + "{\"event\":\"step\",\"step\":1}\n"
	os.WriteFile(path, []byte(long), 0o644)
	var steps []int
	err := EachEvent(path, func(e *record.Event) { steps = append(steps, e.Step) })
	if err == nil || !strings.Contains(err.Error(), "events.jsonl:2: the line has more than 1048576 bytes") || len(steps) != 1 {
		t.Fatalf("events %v, error %v", steps, err)
	}
}
