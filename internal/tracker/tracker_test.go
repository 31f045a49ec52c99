package tracker

import (
	"bytes"
	"encoding/binary"
	"encoding/csv"
	"fmt"
	"hash/crc32"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"
	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/dynamicpb"

	"tercet/internal/render"
	"tercet/internal/rundir"
	"tercet/internal/rundir/rundirtest"
	"tercet/internal/testutil"
)

// schema is what the reader of the tests knows of event.proto, summary.proto and the plugin
// hparams; a field that it does not know is a mistake.
const schema = `
name: "e.proto" syntax: "proto3"
message_type { name: "Event"
  field { name: "wall_time" number: 1 type: TYPE_DOUBLE label: LABEL_OPTIONAL }
  field { name: "step" number: 2 type: TYPE_INT64 label: LABEL_OPTIONAL }
  field { name: "file_version" number: 3 type: TYPE_STRING label: LABEL_OPTIONAL }
  field { name: "summary" number: 5 type: TYPE_MESSAGE type_name: ".Summary" label: LABEL_OPTIONAL } }
message_type { name: "Summary" field { name: "value" number: 1 type: TYPE_MESSAGE type_name: ".Value" label: LABEL_REPEATED } }
message_type { name: "Value"
  field { name: "tag" number: 1 type: TYPE_STRING label: LABEL_OPTIONAL }
  field { name: "image" number: 4 type: TYPE_MESSAGE type_name: ".Image" label: LABEL_OPTIONAL }
  field { name: "histo" number: 5 type: TYPE_MESSAGE type_name: ".Histo" label: LABEL_OPTIONAL }
  field { name: "tensor" number: 8 type: TYPE_MESSAGE type_name: ".Tensor" label: LABEL_OPTIONAL }
  field { name: "metadata" number: 9 type: TYPE_MESSAGE type_name: ".Meta" label: LABEL_OPTIONAL } }
message_type { name: "Image"
  field { name: "height" number: 1 type: TYPE_INT32 label: LABEL_OPTIONAL }
  field { name: "width" number: 2 type: TYPE_INT32 label: LABEL_OPTIONAL }
  field { name: "colorspace" number: 3 type: TYPE_INT32 label: LABEL_OPTIONAL }
  field { name: "png" number: 4 type: TYPE_BYTES label: LABEL_OPTIONAL } }
message_type { name: "Histo"
  field { name: "min" number: 1 type: TYPE_DOUBLE label: LABEL_OPTIONAL }
  field { name: "max" number: 2 type: TYPE_DOUBLE label: LABEL_OPTIONAL }
  field { name: "num" number: 3 type: TYPE_DOUBLE label: LABEL_OPTIONAL }
  field { name: "sum" number: 4 type: TYPE_DOUBLE label: LABEL_OPTIONAL }
  field { name: "sum_squares" number: 5 type: TYPE_DOUBLE label: LABEL_OPTIONAL }
  field { name: "limits" number: 6 type: TYPE_DOUBLE label: LABEL_REPEATED }
  field { name: "counts" number: 7 type: TYPE_DOUBLE label: LABEL_REPEATED } }
message_type { name: "Tensor"
  field { name: "dtype" number: 1 type: TYPE_INT32 label: LABEL_OPTIONAL }
  field { name: "shape" number: 2 type: TYPE_MESSAGE type_name: ".Shape" label: LABEL_OPTIONAL }
  field { name: "content" number: 4 type: TYPE_BYTES label: LABEL_OPTIONAL }
  field { name: "float_val" number: 5 type: TYPE_FLOAT label: LABEL_REPEATED } }
message_type { name: "Shape" field { name: "dim" number: 2 type: TYPE_MESSAGE type_name: ".Dim" label: LABEL_REPEATED } }
message_type { name: "Dim" field { name: "size" number: 1 type: TYPE_INT64 label: LABEL_OPTIONAL } }
message_type { name: "Meta" field { name: "plugin" number: 1 type: TYPE_MESSAGE type_name: ".Plugin" label: LABEL_OPTIONAL } }
message_type { name: "Plugin"
  field { name: "name" number: 1 type: TYPE_STRING label: LABEL_OPTIONAL }
  field { name: "content" number: 2 type: TYPE_BYTES label: LABEL_OPTIONAL } }
message_type { name: "HParams"
  field { name: "experiment" number: 2 type: TYPE_MESSAGE type_name: ".Experiment" label: LABEL_OPTIONAL }
  field { name: "start" number: 3 type: TYPE_MESSAGE type_name: ".Start" label: LABEL_OPTIONAL }
  field { name: "end" number: 4 type: TYPE_MESSAGE type_name: ".End" label: LABEL_OPTIONAL } }
message_type { name: "Experiment"
  field { name: "hparams" number: 4 type: TYPE_MESSAGE type_name: ".HInfo" label: LABEL_REPEATED }
  field { name: "metrics" number: 5 type: TYPE_MESSAGE type_name: ".MInfo" label: LABEL_REPEATED } }
message_type { name: "HInfo"
  field { name: "name" number: 1 type: TYPE_STRING label: LABEL_OPTIONAL }
  field { name: "type" number: 4 type: TYPE_INT32 label: LABEL_OPTIONAL } }
message_type { name: "MInfo" field { name: "name" number: 1 type: TYPE_MESSAGE type_name: ".MName" label: LABEL_OPTIONAL } }
message_type { name: "MName" field { name: "tag" number: 2 type: TYPE_STRING label: LABEL_OPTIONAL } }
message_type { name: "Start"
  field { name: "hparams" number: 1 type: TYPE_MESSAGE type_name: ".Entry" label: LABEL_REPEATED }
  field { name: "group" number: 4 type: TYPE_STRING label: LABEL_OPTIONAL }
  field { name: "seconds" number: 5 type: TYPE_DOUBLE label: LABEL_OPTIONAL } }
message_type { name: "Entry"
  field { name: "key" number: 1 type: TYPE_STRING label: LABEL_OPTIONAL }
  field { name: "value" number: 2 type: TYPE_MESSAGE type_name: ".V" label: LABEL_OPTIONAL } }
message_type { name: "V"
  field { name: "number" number: 2 type: TYPE_DOUBLE label: LABEL_OPTIONAL }
  field { name: "text" number: 3 type: TYPE_STRING label: LABEL_OPTIONAL }
  field { name: "truth" number: 4 type: TYPE_BOOL label: LABEL_OPTIONAL } }
message_type { name: "End"
  field { name: "status" number: 1 type: TYPE_INT32 label: LABEL_OPTIONAL }
  field { name: "seconds" number: 2 type: TYPE_DOUBLE label: LABEL_OPTIONAL } }`

func messages(t *testing.T) protoreflect.MessageDescriptors {
	t.Helper()
	var d descriptorpb.FileDescriptorProto
	if err := prototext.Unmarshal([]byte(schema), &d); err != nil {
		t.Fatal(err)
	}
	f, err := protodesc.NewFile(&d, nil)
	if err != nil {
		t.Fatal(err)
	}
	return f.Messages()
}

// decode reads a message, all of whose fields the schema has.
func decode(t *testing.T, all protoreflect.MessageDescriptors, name protoreflect.Name, data []byte) protoreflect.Message {
	t.Helper()
	m := dynamicpb.NewMessage(all.ByName(name))
	if err := proto.Unmarshal(data, m); err != nil {
		t.Fatal(err)
	}
	var known func(m protoreflect.Message)
	known = func(m protoreflect.Message) {
		if len(m.GetUnknown()) > 0 {
			t.Errorf("%s has unknown fields %x", m.Descriptor().Name(), m.GetUnknown())
		}
		m.Range(func(f protoreflect.FieldDescriptor, v protoreflect.Value) bool {
			switch {
			case f.Message() == nil:
			case f.IsList():
				for i := range v.List().Len() {
					known(v.List().Get(i).Message())
				}
			default:
				known(v.Message())
			}
			return true
		})
	}
	known(m)
	return m
}

func get(m protoreflect.Message, path ...protoreflect.Name) protoreflect.Value {
	for i, name := range path {
		v := m.Get(m.Descriptor().Fields().ByName(name))
		if i == len(path)-1 {
			return v
		}
		m = v.Message()
	}
	panic("no path")
}

// records reads a TFRecord file and checks all its sums.
func records(t *testing.T, data []byte) (out [][]byte) {
	t.Helper()
	sum := func(b []byte) uint32 {
		c := crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli))
		return (c>>15 | c<<17) + 0xa282ead8
	}
	for len(data) > 0 {
		n := int(binary.LittleEndian.Uint64(data))
		if binary.LittleEndian.Uint32(data[8:]) != sum(data[:8]) || binary.LittleEndian.Uint32(data[12+n:]) != sum(data[12:12+n]) {
			t.Fatal("a checksum is wrong")
		}
		out, data = append(out, data[12:12+n]), data[16+n:]
	}
	return out
}

// fake is a run with a log of two sessions, a result and a picture.
func fake(t *testing.T, name string, seed int) *rundir.Run {
	t.Helper()
	dir := filepath.Join(t.TempDir(), name)
	one := render.Image{Pix: []float32{0, 1, 1, 0}, H: 2, W: 2, C: 1}
	if err := os.MkdirAll(filepath.Join(dir, "figures"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := render.ContactSheet(filepath.Join(dir, "figures", "retrieval.png"), "", []render.Tile{{Image: one}}, 1); err != nil {
		t.Fatal(err)
	}
	return rundirtest.Fake(t, dir, seed, "finished", map[string]string{
		"events.jsonl": `{"event":"start","step":0,"epoch":0}
{"event":"step","step":5,"epoch":1,"loss":0.5,"lr":0.001,"seconds":2}
{"event":"eval","step":5,"epoch":1,"seconds":3,"metrics":{"recall@1":0.25,"map@r":0.125},"split":"validation"}
{"event":"resume","step":5,"epoch":1}
{"event":"step","step":10,"epoch":2,"loss":0.25,"seconds":4}
{"event":"step","step":12,"ep`,
		"eval.json": rundirtest.EvalFile(0.75, 0.5),
	}, rundir.Label{Key: "loss.name", Value: "triplet"}, rundir.Label{Key: "loss.margin", Value: "0.2"}, rundir.Label{Key: "model.normalize", Value: "true"})
}

func TestTensorBoardIsReadBack(t *testing.T) {
	t.Parallel()
	all := messages(t)
	runs := []*rundir.Run{fake(t, "a-1", 1), fake(t, "a-2", 2)}
	out := t.TempDir()
	files, err := TensorBoard(out, runs)
	if err != nil {
		t.Fatal(err)
	}
	scalars, groups := map[string]string{}, map[string]int{}
	kinds := map[string]int{}
	for i, file := range files {
		list := records(t, []byte(testutil.Read(t, file)))
		if v := get(decode(t, all, "Event", list[0]), "file_version").String(); v != "brain.Event:2" {
			t.Errorf("version %q", v)
		}
		last := -1.0
		for _, data := range list[1:] {
			e := decode(t, all, "Event", data)
			value := get(e, "summary", "value").List().Get(0).Message()
			tag := get(value, "tag").String()
			switch plugin := get(value, "metadata", "plugin", "name").String(); {
			case plugin == "scalars":
				x := math.Float32frombits(binary.LittleEndian.Uint32(get(value, "tensor", "content").Bytes()))
				if i == 0 {
					scalars[tag] += fmt.Sprintf(" %d:%g", get(e, "step").Int(), x)
				}
				if at := get(e, "wall_time").Float(); at < last {
					t.Errorf("%s: time goes back", tag)
				} else {
					last = at
				}
			case plugin == "hparams":
				h := decode(t, all, "HParams", get(value, "metadata", "plugin", "content").Bytes())
				if tag == "_hparams_/session_start_info" {
					groups[get(h, "start", "group").String()]++
					if n := get(h, "start", "hparams").List().Len(); n != 3 {
						t.Errorf("%d hyper-parameters", n)
					}
					margin := get(h, "start", "hparams").List().Get(1).Message()
					if get(margin, "key").String() != "loss.margin" || get(margin, "value", "number").Float() != 0.2 {
						t.Errorf("%v", margin)
					}
				}
			case value.Has(value.Descriptor().Fields().ByName("image")):
				if _, err := png.Decode(bytes.NewReader(get(value, "image", "png").Bytes())); err != nil || tag != "figures/retrieval" {
					t.Errorf("%s: %v", tag, err)
				}
			}
			kinds[get(value, "metadata", "plugin", "name").String()]++
		}
	}
	for tag, want := range map[string]string{"train/loss": " 5:0.5 10:0.25", "train/lr": " 5:0.001", "validation/recall@1": " 5:0.25", "validation/map@r": " 5:0.125"} {
		if scalars[tag] != want {
			t.Errorf("%s:%s, want%s", tag, scalars[tag], want)
		}
	}
	if len(groups) != 1 || kinds["hparams"] != 6 || kinds[""] != 2 || scalars["result/recall@1"] == "" {
		t.Errorf("%v %v %v", groups, kinds, scalars)
	}
	before := testutil.Read(t, files[0])
	old, err := Projector(filepath.Dir(files[0]), Embeddings{Name: "a", X: []float32{1, 2}, N: 1, D: 2, Classes: []string{"x"}})
	if err != nil || len(old) == 0 {
		t.Fatal(err, old)
	}
	if _, err := TensorBoard(out, runs); err != nil || testutil.Read(t, files[0]) != before {
		t.Error("another export gives other bytes", err)
	}
	for _, path := range old {
		if _, err := os.Stat(path); err == nil {
			t.Errorf("%s of an earlier export is still there", path)
		}
	}
}

func TestCSV(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	if err := CSV(&b, []*rundir.Run{fake(t, "a", 1)}); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(&b).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	got := ""
	for _, r := range rows[:6] {
		got += strings.Join(r, " ") + "\n"
	}
	want := "run tag step epoch seconds value\na train/loss 5 1 2 0.5\na train/lr 5 1 2 0.001\na validation/map@r 5 1 3 0.125\na validation/recall@1 5 1 3 0.25\na train/loss 10 2 7 0.25\n"
	if got != want {
		t.Errorf("%s", got)
	}
}

// MLflow's own reader takes these keys of meta.yaml and splits lines of metrics at spaces.
func TestMLflow(t *testing.T) {
	t.Parallel()
	out := t.TempDir()
	r := fake(t, "a", 1)
	folders, err := MLflow(out, "tries", []*rundir.Run{r})
	if err != nil || len(folders) != 1 {
		t.Fatal(err, folders)
	}
	var run, experiment map[string]any
	for path, into := range map[string]*map[string]any{filepath.Join(folders[0], "meta.yaml"): &run, filepath.Join(filepath.Dir(folders[0]), "meta.yaml"): &experiment} {
		if err := yaml.Load([]byte(testutil.Read(t, path)), into); err != nil {
			t.Fatal(err)
		}
	}
	if experiment["name"] != "tries" || experiment["experiment_id"] != filepath.Base(filepath.Dir(folders[0])) || run["experiment_id"] != experiment["experiment_id"] || run["run_id"] != filepath.Base(folders[0]) || run["status"] != 3 || run["run_name"] != "a" {
		t.Errorf("%v\n%v", experiment, run)
	}
	lines := strings.Split(strings.TrimSpace(testutil.Read(t, filepath.Join(folders[0], "metrics", "validation", "recall_at_1"))), "\n")
	if f := strings.Fields(lines[0]); len(lines) != 1 || len(f) != 3 || f[1] != "0.25" || f[2] != "5" {
		t.Errorf("%q", lines)
	}
	if v := testutil.Read(t, filepath.Join(folders[0], "params", "loss.margin")); v != "0.2" {
		t.Errorf("%q", v)
	}
	again, err := MLflow(out, "tries", []*rundir.Run{r})
	if err != nil || again[0] != folders[0] {
		t.Error(err, again)
	}
}

func TestProjector(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	one := render.Image{Pix: []float32{0, 1, 1, 0}, H: 2, W: 2, C: 1}
	_, err := Projector(dir, Embeddings{Name: "a", X: []float32{1, 2, 3, 4, 5, 6}, N: 3, D: 2, Classes: []string{"x", "y\tz", "x"}, Images: []render.Image{one, one, one}})
	if err != nil {
		t.Fatal(err)
	}
	if x, c := testutil.Read(t, filepath.Join(dir, "embeddings.tsv")), testutil.Read(t, filepath.Join(dir, "classes.tsv")); x != "1\t2\n3\t4\n5\t6\n" || c != "x\ny z\nx\n" {
		t.Errorf("%q %q", x, c)
	}
	m, err := png.Decode(strings.NewReader(testutil.Read(t, filepath.Join(dir, "sprite.png"))))
	if err != nil || m.Bounds().Dx() != 64 || m.Bounds().Dy() != 64 {
		t.Error(err, m)
	}
	if r, _, _, _ := m.At(20, 4).RGBA(); r != 0xffff {
		t.Error("the pictures are not where they belong")
	}
	if text := testutil.Read(t, filepath.Join(dir, "projector_config.pbtxt")); !strings.Contains(text, `tensor_path: "embeddings.tsv"`) || strings.Count(text, "single_image_dim: 32") != 2 {
		t.Errorf("%s", text)
	}
}

// Runs of the same name in folders of the same name are exported under two names.
func TestNamesAreNeverTheSame(t *testing.T) {
	runs := []*rundir.Run{{Dir: "a/x"}, {Dir: "../a/x"}, {Dir: "b/y"}, {Dir: "c/a-x"}, {Dir: "../../a/x"}}
	if got, want := strings.Join(Names(runs), " "), "a-x a-x-2 y a-x-3 a-x-4"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
