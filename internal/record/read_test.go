package record

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tercet/internal/archive"
)

func put(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "doc.json")
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestReadRefuses(t *testing.T) {
	t.Parallel()
	damaged, err := Seal([]byte(`{"schema": "tercet.eval/1", "source": {"run": "a"}}`))
	if err != nil {
		t.Fatal(err)
	}
	damaged = []byte(strings.Replace(string(damaged), `"a"`, `"b"`, 1))
	for text, want := range map[string]string{
		"":  "doc.json is empty",
		"{": "doc.json:1: not valid JSON of a run",
		"{\"schema\": \"tercet.eval/1\",\n\"source\": {\"step\": \"x\"}}":       "doc.json:2: not valid JSON of a run: source.step is a string",
		`{"schema": "tercet.attack/2"}`:                                         `doc.json: schema is "tercet.attack/2"; this version reads tercet.eval/1`,
		`{"schema": "tercet.eval/1"} {}`:                                        "doc.json:1: not valid JSON of a run: ",
		`{"schema": "tercet.eval/9"}`:                                           "this version reads tercet.eval/1; `tercet eval` makes the file again",
		`{"schema": "tercet.eval/1", "retrieval_": {}}`:                         `doc.json: unknown key "retrieval_"`,
		`{"schema": "tercet.eval/1", "source": {"stop": 3}}`:                    `doc.json: unknown key "stop"`,
		`{"schema": "tercet.eval/1", "retrieval": {"map": {"valeu": 1}}}`:       `doc.json: score "map": unknown key "valeu"`,
		`{"schema": "tercet.eval/1", "retrieval": {"map": {"definition": ""}}}`: `doc.json: score "map" has no value`,
		string(damaged): "doc.json: " + ErrDigest.Error(),
	} {
		if d, err := Read[Eval](put(t, text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %+v, error %v; want %q", text, d, err, want)
		}
	}
	_, err = Read[Eval](filepath.Join(t.TempDir(), "none.json"))
	if !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a file that does not exist: %v", err)
	}
}

func TestReadGivesWhatWasWritten(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "eval.json")
	d := Eval{Schema: EvalSchema, Source: Source{Run: "r", Step: 4}, Evaluated: Evaluated{Retrieval: Scores{{"map", Value{Value: 0.5, CI95: &[2]float64{0.25, 0.75}, Definition: "map(full)"}}}}}
	if err := Write(path, d); err != nil {
		t.Fatal(err)
	}
	got, err := Read[Eval](path)
	if err != nil {
		t.Fatal(err)
	}
	a, _ := json.Marshal(d)
	if b, _ := json.Marshal(got); string(a) != string(b) {
		t.Errorf("%s, want %s", b, a)
	}
	if none, err := ReadIfThere[Eval](path + "x"); none != nil || err != nil {
		t.Errorf("no file: %v, %v", none, err)
	}
	var kept *KeptError
	if _, err := ReadKept[Attack](path); !errors.As(err, &kept) {
		t.Errorf("another kind: %v", err)
	}
}

// The documents that come with Tercet are read to the last key.
func TestResultsAreRead(t *testing.T) {
	t.Parallel()
	readers := map[string]func(string) error{
		RunSchema: reader[Manifest], EvalSchema: reader[Eval], AttackSchema: reader[Attack], ClusterSchema: reader[Cluster], OldClusterSchema: reader[Cluster],
		PairsSchema: reader[Pairs], MetricSchema: reader[MetricStability], PartitionSchema: reader[Partition], StabilitySchema: reader[Stability], WorstSchema: reader[Worst], CertifySchema: reader[Certify],
		NoiseSchema: reader[NoiseRate],
	}
	n := map[string]int{}
	top, err := archive.Glob("../../results/*.zip/*/*.json")
	deep, err2 := archive.Glob("../../results/*.zip/*/*/*.json")
	if err != nil || err2 != nil {
		t.Fatal(err, err2)
	}
	for _, path := range append(top, deep...) {
		b, err := archive.ReadFile(path, MaxDocument)
		if err != nil {
			t.Fatal(err)
		}
		var head struct{ Schema string }
		if err := json.Unmarshal(b, &head); err != nil {
			t.Fatal(err)
		}
		read := readers[head.Schema]
		if read == nil {
			t.Errorf("%s: schema %q", path, head.Schema)
			continue
		}
		n[head.Schema]++
		if err := read(path); err != nil {
			t.Error(err)
		}
	}
	if len(top)+len(deep) < 900 || len(n) < 5 {
		t.Errorf("documents %v", n)
	}
}

func reader[T Document](path string) error {
	_, err := Read[T](path)
	return err
}

// A summary is the document without the values of queries and the baselines, and any damage
// is noticed, that of what is left out, too.
func TestSummary(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "eval.json")
	scores := Evaluated{Retrieval: Scores{{"map", Value{Value: 0.5, Definition: "map(full)"}}}}
	whole := Eval{Schema: EvalSchema, Source: Source{Run: "r", Items: 2}, Evaluated: scores}
	want, _ := json.Marshal(whole)
	whole.Items, whole.Values = Pack([]float64{0, 1}), PackedScores{"map": Pack([]float64{0.25, 0.75})}
	whole.Baselines = map[string]Evaluated{"pixels": scores}
	whole.Classes = []ClassScores{{Class: "a", Images: 2}}
	if err := Write(path, whole); err != nil {
		t.Fatal(err)
	}
	got, err := ReadSummary[Eval](path)
	if err != nil {
		t.Fatal(err)
	}
	if b, _ := json.Marshal(got); string(b) != string(want) {
		t.Errorf("summary %s, want %s", b, want)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	at := strings.Index(string(text), string(whole.Values["map"])) + 10
	text[at] ^= 1
	if _, err := ReadSummary[Eval](put(t, string(text))); !errors.Is(err, ErrDigest) {
		t.Errorf("a damaged value of a query: %v", err)
	}
	old := `{"schema": "` + EvalSchema + `", "source": {"run": "r"}, "values": {"map": 3}}`
	var format *FormatError
	if _, err := ReadSummary[Eval](put(t, old)); !errors.As(err, &format) {
		t.Errorf("no digest, and values that are none: %v", err)
	}
}
