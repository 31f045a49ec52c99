package train

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestLogDropsWhatTheCheckpointHasNotSeen(t *testing.T) {
	path := filepath.Join(t.TempDir(), "events.jsonl")
	log, err := OpenLog(path, 0)
	if err != nil {
		t.Fatal(err)
	}
	for step := range 10 {
		if err := log.Write(&Event{Kind: "step", Step: step, Loss: num(float64(step))}); err != nil {
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
	log.Write(&Event{Kind: "step", Step: 5, Note: "again"})
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
