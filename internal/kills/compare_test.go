//go:build linux

package kills

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// times are the keys of documents and events that a clock gives; a digest is of them, too,
// and so is the manifest's record of the log, which also counts the lines of a resume.
var times = []string{"seconds", "started", "updated", "created", "finished", "images_per_s", "images_per_second", "time", "digest", "log"}

// passing are files that say how a command went on and not what came of it; at which step
// the checkpoint before the last one was written may depend on the clock.
var passing = regexp.MustCompile(`(^|/)(lock|log|previous\.safetensors)$`)

// content reads a folder into comparable texts: checkpoints, pictures and arrays by
// their bytes, documents less times, events less times and the lines that a resume
// adds.
func content(dir string) (map[string]string, error) {
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil || passing.MatchString(name) {
			return err
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		switch {
		case strings.HasSuffix(name, ".json"):
			files[name], err = document(b)
		case strings.HasSuffix(name, ".jsonl"):
			files[name], err = events(b)
		default:
			files[name] = string(b)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		return nil
	})
	return files, err
}

func document(b []byte) (string, error) {
	var v any
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.UseNumber()
	if err := dec.Decode(&v); err != nil {
		return "", err
	}
	out, err := json.MarshalIndent(timeless(v), "", " ")
	return string(out), err
}

func timeless(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for key := range v {
			if slices.Contains(times, key) || strings.HasSuffix(key, "_seconds") {
				delete(v, key)
			} else {
				v[key] = timeless(v[key])
			}
		}
	case []any:
		for i := range v {
			v[i] = timeless(v[i])
		}
	}
	return v
}

func events(b []byte) (string, error) {
	var out strings.Builder
	for i, line := range strings.Split(strings.TrimSuffix(string(b), "\n"), "\n") {
		var e map[string]any
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			return "", fmt.Errorf("line %d: %w", i+1, err)
		}
		if e["event"] == "resume" {
			continue
		}
		text, err := document([]byte(line))
		if err != nil {
			return "", err
		}
		out.WriteString(text + "\n")
	}
	return out.String(), nil
}

// difference says where two folders differ, or nothing.
func difference(want, got map[string]string) string {
	var lines []string
	for name, text := range want {
		switch other, ok := got[name]; {
		case !ok:
			lines = append(lines, name+" is missing")
		case other != text:
			lines = append(lines, name+" differs: "+firstDifference(text, other))
		}
	}
	for name := range got {
		if _, ok := want[name]; !ok {
			lines = append(lines, name+" is left behind")
		}
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

func firstDifference(a, b string) string {
	i := 0
	for i < len(a) && i < len(b) && a[i] == b[i] {
		i++
	}
	part := func(s string) string { return fmt.Sprintf("%q", s[max(0, min(i, len(s))-60):min(len(s), i+60)]) }
	return fmt.Sprintf("at byte %d: undisturbed %s, killed %s", i, part(a), part(b))
}
