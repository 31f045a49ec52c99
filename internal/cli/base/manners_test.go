package base

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
)

func TestColored(t *testing.T) {
	for i, c := range []struct {
		mode     string
		terminal bool
		env      string
		want     bool
	}{
		{"auto", true, "", true}, {"auto", false, "", false}, {"auto", true, "NO_COLOR=1", false}, {"auto", true, "TERM=dumb", false},
		{"auto", false, "CLICOLOR_FORCE=1", true}, {"auto", false, "CLICOLOR_FORCE=0", false}, {"auto", true, "NO_COLOR=1 CLICOLOR_FORCE=1", false},
		{"always", false, "NO_COLOR=1", true}, {"always", false, "TERM=dumb", true}, {"never", true, "CLICOLOR_FORCE=1", false},
	} {
		env := map[string]string{}
		for _, pair := range strings.Fields(c.env) {
			key, value, _ := strings.Cut(pair, "=")
			env[key] = value
		}
		if got := colored(c.mode, c.terminal, func(key string) string { return env[key] }); got != c.want {
			t.Errorf("%d: --color %s, terminal %v, %s: %v", i, c.mode, c.terminal, c.env, got)
		}
	}
	none := func(string) string { return "" }
	s := NewStreams(nil, &bytes.Buffer{}, &bytes.Buffer{})
	if err := s.SetColor("sometimes", none); ExitCode(err) != ExitUsage {
		t.Error(err)
	}
	if err := s.SetColor("always", none); err != nil || s.Paint(Bad, "dead") != "\x1b[31mdead\x1b[0m" {
		t.Error(err, s.Paint(Bad, "dead"))
	}
	if s.JSON = true; s.Paint(Bad, "dead") != "dead" {
		t.Error("a document is colored")
	}
}

func TestLogFormatJSON(t *testing.T) {
	var b bytes.Buffer
	s, pass := clock(&b)
	if err := s.SetLogFormat("yaml"); ExitCode(err) != ExitUsage {
		t.Error(err)
	}
	if err := s.SetLogFormat("json"); err != nil {
		t.Fatal(err)
	}
	s.Note("resuming %s", "a\nb")
	s.Note("warning: %d images", 3)
	p := s.Progress("epoch", 10)
	pass(plainEvery)
	p.Add(5)
	s.Report(errors.New("no data"), 3)
	got := ""
	for line := range strings.Lines(b.String()) {
		var o struct {
			Time, Level, Msg string
			Code             int `json:"exit_code"`
		}
		if err := json.Unmarshal([]byte(line), &o); err != nil || o.Time == "" {
			t.Fatalf("%v: %s", err, line)
		}
		got += o.Level + " " + o.Msg + "|"
		if o.Level == "ERROR" && o.Code != 3 {
			t.Errorf("%+v", o)
		}
	}
	if want := "INFO resuming a\nb|WARN 3 images|INFO epoch: 5/10 (50 %), 5s, about 5s left|ERROR no data|"; got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}
