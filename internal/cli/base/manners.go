package base

import (
	"log/slog"
	"strings"

	"tercet/internal/names"
	"tercet/internal/record"
	"tercet/internal/record/printed"
)

// When results on a terminal have colors.
const (
	colorAuto   = "auto"
	colorAlways = "always"
	colorNever  = "never"
)

// colored says whether text is colored: as the flag says; else not if NO_COLOR is set, always
// if CLICOLOR_FORCE is, and else on a terminal that is not dumb.
func colored(mode string, terminal bool, getenv func(string) string) bool {
	switch force := getenv("CLICOLOR_FORCE"); {
	case mode == colorAlways:
		return true
	case mode == colorNever, getenv("NO_COLOR") != "":
		return false
	case force != "" && force != "0":
		return true
	}
	return terminal && getenv("TERM") != "dumb"
}

// SetColor takes the value of --color.
func (s *Streams) SetColor(mode string, getenv func(string) string) error {
	if all := []string{colorAuto, colorAlways, colorNever}; names.Closest(mode, all) != mode {
		return Usagef("--color is %q; give %s", mode, strings.Join(all, ", "))
	}
	s.color = colored(mode, isTerminal(s.Written.w), getenv)
	s.errColor = colored(mode, isTerminal(s.Err), getenv)
	return nil
}

// Tone is what a colored word means.
type Tone string

// The tones: SGR codes of colors that every terminal has.
const (
	Good Tone = "32"
	Bad  Tone = "31"
	Busy Tone = "33"
)

// StatusTone is the tone of a run's status.
func StatusTone(status record.Status) Tone {
	switch status {
	case record.Finished:
		return Good
	case printed.InTraining, record.Running, record.Interrupted, printed.NotBegun:
		return Busy
	}
	return Bad
}

// Paint colors a word of a result, if results have colors.
func (s *Streams) Paint(t Tone, word string) string {
	if !s.color || s.JSON {
		return word
	}
	return t.wrap(word)
}

func (t Tone) wrap(word string) string { return "\x1b[" + string(t) + "m" + word + "\x1b[0m" }

// PaintNote colors a word of a note or an error, if those have colors.
func (s *Streams) PaintNote(t Tone, word string) string {
	if !s.errColor || s.JSON || s.log != nil {
		return word
	}
	return t.wrap(word)
}

// SetLogFormat takes the value of --log-format: text, or json for a JSON object a line on
// stderr.
func (s *Streams) SetLogFormat(format string) error {
	switch format {
	case "text":
	case "json":
		s.log = slog.New(slog.NewJSONHandler(lines{s}, nil))
	default:
		return Usagef("--log-format is %q; give text or json", format)
	}
	return nil
}

// lines writes whole lines to stderr.
type lines struct{ s *Streams }

func (l lines) Write(p []byte) (int, error) {
	l.s.mu.Lock()
	defer l.s.mu.Unlock()
	return l.s.Err.Write(p)
}

// logged writes a note as an object, where --log-format asks for it.
func (s *Streams) logged(note string) bool {
	if s.log == nil {
		return false
	}
	if text, warns := strings.CutPrefix(note, "warning: "); warns {
		s.log.Warn(text)
	} else {
		s.log.Info(note)
	}
	return true
}
