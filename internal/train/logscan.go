package train

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io/fs"
	"os"
	"slices"
	"unicode/utf8"

	"tercet/internal/fsx"
	"tercet/internal/record"
)

// Record is what the log has so far, at a checkpoint of the step.
func (l *Log) Record(step int) *record.LogRecord { return l.tally.record(step) }

// tally counts events and hashes their lines.
type tally struct {
	events int
	sum    hash.Hash
}

func (t *tally) add(kind string, line []byte) {
	if kind == "stop" || kind == "end" {
		return
	}
	if t.sum == nil {
		t.sum = sha256.New()
	}
	t.events++
	t.sum.Write(line)
}

func (t *tally) record(step int) *record.LogRecord {
	r := &record.LogRecord{Step: step, Events: t.events}
	if t.sum != nil {
		r.SHA256 = hex.EncodeToString(t.sum.Sum(nil))
	}
	return r
}

// span is a range of bytes of a file.
type span struct{ from, to int64 }

// logScan finds what stays of a log.
type logScan struct {
	step    int // events behind it do not stay
	without []string
	want    *record.LogRecord // what the log begins with; nil where nobody knows

	kept   []span
	tally  tally // of what stays
	lost   int   // lines that are no events
	astray bool  // steps go back, or events are there that were not recorded
	other  bool  // the recorded events are others
	last   int   // step of the last event that stays
}

// read scans the log at path. A line behind an event after step is passed over whatever
// it is: the file was not yet synced that far.
func (s *logScan) read(path string) error {
	f, _, err := fsx.OpenRegular(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	in := bufio.NewReaderSize(f, maxLine)
	behind := false
	for at := int64(0); ; {
		line, n, whole, err := readLine(in)
		if err != nil {
			return err
		}
		if n == 0 {
			return nil
		}
		from := at
		at += n
		e, ok := parseLine(line)
		switch {
		case !whole && bytes.HasPrefix(line, []byte("{")) && n < maxLine: // the process was killed
		case !whole || !ok:
			if !behind {
				s.lost++
			}
		case *e.Step > s.step:
			behind = true
		default:
			s.take(e, line, span{from, at})
		}
	}
}

// take keeps an event, if it is one that stays.
func (s *logScan) take(e place, line []byte, at span) {
	if s.astray = s.astray || *e.Step < s.last || s.unrecorded(e); s.astray {
		return // such as the second half of a log that was doubled
	}
	if slices.Contains(s.without, e.Kind) {
		return
	}
	s.last = *e.Step
	s.tally.add(e.Kind, line)
	if s.want != nil && s.tally.events == s.want.Events && *s.tally.record(s.want.Step) != *s.want {
		s.other = true
	}
	if n := len(s.kept); n > 0 && s.kept[n-1].to == at.from {
		s.kept[n-1].to = at.to
		return
	}
	s.kept = append(s.kept, at)
}

// unrecorded says of an event behind the recorded ones that it ought to be among them.
func (s *logScan) unrecorded(e place) bool {
	if s.want == nil || s.tally.events < s.want.Events || e.Kind == "stop" || e.Kind == "end" {
		return false
	}
	return *e.Step < s.want.Step || *e.Step == s.want.Step && e.Kind != "resume"
}

// changed says in what the log differs from what was recorded.
func (s *logScan) changed() string {
	switch w := s.want; {
	case w != nil && s.tally.events < w.Events && s.step >= w.Step:
		return fmt.Sprintf("it has %d of the %d events up to step %d", s.tally.events, w.Events, w.Step)
	case s.step > 0 && s.tally.events == 0: // a start is logged before all steps
		return fmt.Sprintf("it has no event up to step %d", s.step)
	case s.other:
		return fmt.Sprintf("its events up to step %d are not those that were written", s.want.Step)
	case s.astray:
		return "it has events that were not written there, such as a second copy"
	}
	return ""
}

// exists reports whether there is a file at path.
func exists(path string) (bool, error) {
	_, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// place is what every event says.
type place struct {
	Kind string `json:"event"`
	Step *int   `json:"step"`
}

// kinds are those of Event.
var kinds = []string{"start", "resume", "step", "epoch", "eval", "end", "stop"}

func parseLine(line []byte) (e place, ok bool) {
	return e, utf8.Valid(line) && json.Unmarshal(line, &e) == nil && e.Step != nil && *e.Step >= 0 && slices.Contains(kinds, e.Kind)
}
