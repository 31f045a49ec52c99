package base

import (
	"bytes"
	"strings"
	"testing"
	"time"
)

// clock returns streams whose time a test turns.
func clock(stderr *bytes.Buffer) (*Streams, func(time.Duration)) {
	s := NewStreams(nil, &bytes.Buffer{}, stderr)
	now := time.Unix(1e9, 0)
	s.Now = func() time.Time { return now }
	return s, func(d time.Duration) { now = now.Add(d) }
}

func TestProgressWithoutATerminalIsALineEveryFewSeconds(t *testing.T) {
	var b bytes.Buffer
	s, pass := clock(&b)
	p := s.Progress("epoch 1", 100)
	for range 10 {
		pass(time.Second)
		p.Add(5, "loss %.1f", 0.5)
	}
	pass(time.Second)
	p.Add(50)
	p.Done()
	want := "epoch 1: 25/100 (25 %), 5s, about 15s left; loss 0.5\n" +
		"epoch 1: 50/100 (50 %), 10s, about 10s left; loss 0.5\n" +
		"epoch 1: 100/100 (100 %), 11s; loss 0.5\n"
	if b.String() != want {
		t.Errorf("got\n%swant\n%s", b.String(), want)
	}
	if strings.ContainsAny(b.String(), "\r\x1b") {
		t.Error("control characters in a file")
	}
}

func TestProgressOfAShortJobIsSilent(t *testing.T) {
	var b bytes.Buffer
	s, _ := clock(&b)
	p := s.Progress("x", 2)
	p.Add(2)
	p.Done()
	if b.Len() > 0 {
		t.Errorf("got %q", b.String())
	}
}

func TestProgressOfUnknownLength(t *testing.T) {
	var b bytes.Buffer
	s, pass := clock(&b)
	p := s.Progress("read", 0)
	pass(6 * time.Second)
	p.Add(3)
	p.Done()
	if want := "read: 3, 6s\n"; b.String() != want {
		t.Errorf("got %q", b.String())
	}
}

// What the last line said is not said again at the end, unless there is news: more
// items, another note, or a time that has moved on by as much as two lines have
// between them.
func TestProgressSaysTheEndOnce(t *testing.T) {
	const line = "x: 4/4 (100 %), 6s; a\n"
	for _, c := range []struct {
		name, want string
		more       func(p *Progress, pass func(time.Duration))
	}{
		{"nothing", line, func(*Progress, func(time.Duration)) {}},
		{"a little time", line, func(_ *Progress, pass func(time.Duration)) { pass(2 * time.Second) }},
		{"much time", line + "x: 4/4 (100 %), 11s; a\n", func(_ *Progress, pass func(time.Duration)) { pass(5 * time.Second) }},
		{"a note", line + "x: 4/4 (100 %), 6s; b\n", func(p *Progress, _ func(time.Duration)) { p.Add(0, "b") }},
		{"items", line + "x: 5/4 (125 %), 6s; a\n", func(p *Progress, _ func(time.Duration)) { p.Add(1) }},
	} {
		var b bytes.Buffer
		s, pass := clock(&b)
		p := s.Progress("x", 4)
		pass(6 * time.Second)
		p.Add(4, "a")
		c.more(p, pass)
		p.Done()
		if b.String() != c.want {
			t.Errorf("%s: got\n%swant\n%s", c.name, b.String(), c.want)
		}
	}
}

func TestProgressAfterResumeEstimatesFromNewWork(t *testing.T) {
	var b bytes.Buffer
	s, pass := clock(&b)
	p := s.Progress("train", 100)
	p.Resume(50)
	pass(5 * time.Second)
	p.Add(25)
	if want := "train: 75/100 (75 %), 5s, about 5s left\n"; b.String() != want {
		t.Errorf("got %q", b.String())
	}
}

// A bar and a line tell the same time left, and count what is under way: a sweep of
// three runs of which one is done and one is half done in 30 s needs 30 s more.
func TestTheTimeLeftCountsWhatIsUnderWay(t *testing.T) {
	var b bytes.Buffer
	s, pass := clock(&b)
	p := s.Progress("sweep", 3)
	pass(30 * time.Second)
	p.Part(0.5)
	p.Add(1, "%s", "in training: 50 %")
	if want := "sweep: 1/3 (33 %), 30s, about 30s left; in training: 50 %\n"; b.String() != want {
		t.Errorf("got %q, want %q", b.String(), want)
	}
	if got, want := p.description(), "sweep: in training: 50 %, about 30s left"; got != want {
		t.Errorf("the bar says %q, want %q", got, want)
	}
}

func TestQuietIsQuiet(t *testing.T) {
	var b bytes.Buffer
	s, pass := clock(&b)
	s.Quiet.Store(true)
	p := s.Progress("x", 2)
	pass(time.Minute)
	p.Add(2, "note")
	p.Done()
	s.Note("hello")
	if b.Len() > 0 {
		t.Errorf("got %q", b.String())
	}
}

func TestTheBarMakesRoomForNotes(t *testing.T) {
	var b bytes.Buffer
	s, _ := clock(&b)
	s.errTTY = true
	p := s.Progress("epoch 1", 4)
	p.Add(2, "loss %d", 1)
	s.Note("a note")
	p.Add(2)
	p.Done()
	out := b.String()
	if !strings.Contains(out, "epoch 1") || !strings.HasSuffix(out, "\n") {
		t.Errorf("got %q", out)
	}
	i := strings.Index(out, "a note\n")
	if i < 1 || (out[i-1] != '\r' && out[i-1] != 'K') {
		t.Errorf("the note is not on a line of its own: %q", out)
	}
	if s.bar != nil {
		t.Error("the bar is still there")
	}
}

func TestANoteAfterTheBarLeavesNoEmptyLine(t *testing.T) {
	var b bytes.Buffer
	s, _ := clock(&b)
	s.errTTY = true
	p := s.Progress("x", 1)
	p.Add(1)
	s.Note("a note")
	p.Done()
	s.Note("another")
	if out := b.String(); strings.Contains(out, "\n\n") || !strings.HasSuffix(out, "a note\nanother\n") {
		t.Errorf("got %q", out)
	}
}

// What is done is the whole after an early stop: no time is left.
func TestAProgressThatIsShortened(t *testing.T) {
	var s Streams
	p := &Progress{s: &s, total: 360, n: 60}
	p.Shorten()
	if _, known := p.left(p.start); known || p.total != 60 {
		t.Errorf("%+v", p)
	}
}
