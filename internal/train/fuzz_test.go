package train

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"testing"

	"tercet/internal/engine/nn"
	"tercet/internal/record"
	"tercet/internal/rng"
	"tercet/internal/safetensors"
)

// fuzzFile is a path in memory where the system has such a folder: a disk would
// make a fuzzer wait for it.
func fuzzFile(f *testing.F, name string) string {
	f.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "tercet-fuzz-")
	if err != nil {
		return filepath.Join(f.TempDir(), name)
	}
	f.Cleanup(func() { os.RemoveAll(dir) })
	return filepath.Join(dir, name)
}

// Whatever a log holds, opening it at a step leaves a log that is read again, that
// has no step event beyond that step, and that takes another event.
func FuzzEvents(f *testing.F) {
	for _, s := range []string{"", `{"event":"start","step":0,"epoch":0}` + "\n" + `{"event":"step","step":5,"epoch":0.5,"loss":1}` + "\n", `{"event":"step","step":9}` + "\n" + `{"ev`, "\n\n", "null\n", `{"step":-1}` + "\n"} {
		f.Add([]byte(s), 5)
	}
	path := fuzzFile(f, "events.jsonl")
	f.Fuzz(func(t *testing.T, b []byte, step int) {
		if step < 0 {
			return // no checkpoint has such a step
		}
		if err := os.WriteFile(path, b, 0o644); err != nil {
			t.Fatal(err)
		}
		log, err := OpenLog(path, step)
		if err != nil {
			t.Fatalf("a log is never a reason not to train: %v", err)
		}
		if log.Aside != "" { // else each would look for a name behind those of all before it
			defer os.Remove(log.Aside)
		}
		if err := log.Write(&record.Event{Kind: "resume", Step: step}); err != nil {
			t.Fatal(err)
		}
		if err := log.Close(); err != nil {
			t.Fatal(err)
		}
		after, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		lines := bytes.Split(bytes.TrimSuffix(after, []byte("\n")), []byte("\n"))
		for _, line := range lines {
			var e struct {
				Step *int `json:"step"`
			}
			if err := json.Unmarshal(line, &e); err != nil || e.Step == nil || *e.Step > step {
				t.Fatalf("line %q stays in a log opened at step %d", line, step)
			}
		}
	})
}

// A checkpoint of any metadata and weights is read and rebuilt, or refused as
// ErrCheckpoint.
func FuzzCheckpoint(f *testing.F) {
	model, err := nn.Build(nn.Spec{Name: "linear", Height: 1, Width: 1, Channels: 2, Embedding: 1}, rng.New(1, "fuzz"))
	if err != nil {
		f.Fatal(err)
	}
	spec, err := json.Marshal(model.Spec())
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(spec), `{"step":3,"cost":{},"epoch_loss":1,"epoch_seen":2,"best_step":0,"stale":0,"collapsed":0,"stopped":false}`, "0.5", []byte{0, 0, 128, 63})
	f.Add(`{"name":"mlp"}`, `{"step":-1}`, "NaN", []byte{0, 0, 192, 127})
	f.Add(`{"name":"linear","height":-1}`, `{"step":1e9}`, "", []byte{})
	path := fuzzFile(f, "last.safetensors")
	f.Fuzz(func(t *testing.T, spec, state, threshold string, bits []byte) {
		file := &safetensors.File{Meta: map[string]string{"format": record.UnsealedCheckpointFormat, "config": "x", "model": spec, "state": state, "optim.steps": "3", "threshold": threshold}}
		if threshold == "" {
			delete(file.Meta, "threshold")
		}
		var word [4]byte
		copy(word[:], bits)
		v := math.Float32frombits(binary.LittleEndian.Uint32(word[:]))
		for _, p := range model.Params() {
			data := make([]float32, len(p.Value.Data))
			for i := range data {
				data[i] = v
			}
			file.Tensors = append(file.Tensors, safetensors.Tensor{Name: "model/" + p.Name, Shape: p.Value.Shape, Data: data})
		}
		var b bytes.Buffer
		if err := safetensors.Write(&b, file); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		c, err := ReadCheckpoint(path)
		if err == nil && !isSmall(c.Spec) {
			return // building a network that does not fit its file is left to the hostile inputs
		}
		if err == nil {
			_, err = c.LoadModel()
		}
		if err != nil && !errors.Is(err, ErrCheckpoint) {
			t.Fatalf("%v is not ErrCheckpoint", err)
		}
		if err == nil && c.Threshold != nil && !(*c.Threshold > 0) {
			t.Fatalf("threshold %v accepted", *c.Threshold)
		}
	})
}

func isSmall(s nn.Spec) bool {
	for _, n := range []int{s.Height, s.Width, s.Channels, s.Embedding, s.Units} {
		if n > 16 {
			return false
		}
	}
	return s.Units > 0 || s.Name == "linear" // defaults of the large networks take a second
}
