package record

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
)

const document = `{"schema": "tercet.eval/1", "a": [1, 2.50, {"digest": "x"}], "s": "x y\"}", "t": null}`

func TestEveryBitOfADocumentCounts(t *testing.T) {
	for _, doc := range []string{document, "{}", `{"fingerprint": "` + strings.Repeat("0a", 32) + `", "z": 1}`} {
		whole, err := Seal([]byte(doc))
		if err != nil {
			t.Fatal(err)
		}
		if err := Check(whole); err != nil {
			t.Fatalf("%s: %v", whole, err)
		}
		for i := range 8 * len(whole) {
			bad := bytes.Clone(whole)
			bad[i/8] ^= 1 << (i % 8)
			if Check(bad) == nil {
				t.Errorf("bit %d of byte %d of %s was not noticed", i%8, i/8, whole)
			}
		}
	}
}

func TestWhiteSpaceDoesNotCount(t *testing.T) {
	whole, err := Seal([]byte(document))
	if err != nil {
		t.Fatal(err)
	}
	var flat bytes.Buffer
	if err := json.Compact(&flat, whole); err != nil || Check(flat.Bytes()) != nil {
		t.Errorf("compacted: %v, %v", err, Check(flat.Bytes()))
	}
	if err := Check(bytes.Replace(whole, []byte("x y"), []byte("xy"), 1)); !errors.Is(err, ErrDigest) {
		t.Errorf("white space of a text: %v", err)
	}
	for _, old := range []string{document, "{}", `[]`, `{"run": "` + strings.Repeat("a", 64) + `"}`} {
		if err := Check([]byte(old)); err != nil {
			t.Errorf("without a digest: %s: %v", old, err)
		}
	}
	for _, text := range []string{document, string(whole), flat.String(), "[ 1 , \"\\\\\" ,\t\" \\\" \" ]\r\n"} {
		var want bytes.Buffer
		if err := json.Compact(&want, []byte(text)); err != nil || string(compact([]byte(text))) != want.String() {
			t.Errorf("%s: %v, compacted to %s, want %s", text, err, compact([]byte(text)), &want)
		}
	}
	for _, text := range []string{"", `"`, `"\\`, `{"a`} { // texts that end too early
		if got := string(compact([]byte(text))); got != text {
			t.Errorf("%q is compacted to %q", text, got)
		}
	}
	if err := Check([]byte("{")); err == nil || errors.Is(err, ErrDigest) {
		t.Errorf("no JSON: %v", err)
	}
	for _, none := range []string{"[]", string(whole), "1", "x"} {
		if _, err := Seal([]byte(none)); err == nil {
			t.Errorf("sealed %s", none)
		}
	}
}

// What is left out is what json says, of documents of any order and depth; a text that is no
// JSON gives some text and no panic.
func TestWithoutKeys(t *testing.T) {
	drop := []string{"b", "c"}
	for _, doc := range []string{`{}`, `{"a":1}`, `{"b":1}`, `{"b":1,"a":[1,{"b":2}],"c":{"a":"}],\"","b":[[]]}}`,
		`{"a":"\\","c":"x\"y","d":null}`, `{"c":[1,2,3],"b":{},"a":{"c":[],"b":"b"}}`} {
		var want map[string]json.RawMessage
		if err := json.Unmarshal([]byte(doc), &want); err != nil {
			t.Fatal(doc, err)
		}
		delete(want, "b")
		delete(want, "c")
		var got map[string]json.RawMessage
		out := without([]byte(doc), drop)
		if err := json.Unmarshal(out, &got); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s without %v is %s: %v", doc, drop, out, err)
		}
		if string(without([]byte(doc), nil)) != doc {
			t.Errorf("%s without nothing is %s", doc, without([]byte(doc), nil))
		}
		for i := range doc {
			without([]byte(doc[:i]), drop)
			without([]byte(doc[:i]+doc[i+1:]), drop)
			without([]byte(doc[:i]+`"`+doc[i:]), drop)
			without([]byte(doc[:i]+`]`+doc[i:]), drop)
		}
	}
}
