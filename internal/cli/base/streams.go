package base

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/term"

	"tercet/internal/record"
	"tercet/internal/record/printed"
)

// Streams is what a command sees of the terminal. Results go to Out, everything
// else to stderr through Note and Progress.
type Streams struct {
	In  io.Reader
	Out io.Writer // remembers its first error; Main reports it

	JSON  bool        // one document on Out instead of text
	Quiet atomic.Bool // print only errors on stderr; signals are told of by another goroutine
	loud  bool        // details are printed
	pager string      // the shell command of long results; "" for none
	color bool        // Out is colored
	log   *slog.Logger

	mu       sync.Mutex // one writer to stderr at a time, a bar included
	Err      io.Writer
	errTTY   bool
	errColor bool      // Err is colored
	bar      *Progress // drawn at the moment
	Written  *stickyWriter
	OnEnd    string // a shell command that Main runs at the end
	Now      func() time.Time
}

// NewStreams makes the streams of a command line.
func NewStreams(stdin io.Reader, stdout, stderr io.Writer) *Streams {
	out := &stickyWriter{w: stdout}
	return &Streams{
		In:      stdin,
		Out:     out,
		Err:     stderr,
		errTTY:  isTerminal(stderr) && os.Getenv("TERM") != "dumb",
		Written: out,
		Now:     time.Now,
	}
}

// Size is that of the terminal that Out is, in characters and lines; false where it is none.
func (s *Streams) Size() (width, height int, drawn bool) {
	f, ok := s.Written.w.(*os.File)
	if !ok || !isTerminal(f) || os.Getenv("TERM") == "dumb" {
		return 0, 0, false
	}
	width, height, err := term.GetSize(int(f.Fd()))
	return width, height, err == nil && width > 0 && height > 0
}

func isTerminal(w any) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// stickyWriter keeps the first error of a stream, so that a full disk behind
// stdout does not look like success.
type stickyWriter struct {
	w   io.Writer
	Err error
}

func (s *stickyWriter) Write(p []byte) (int, error) {
	if s.Err != nil {
		return 0, s.Err
	}
	n, err := s.w.Write(p)
	s.Err = err
	return n, err
}

// Note prints a line to stderr unless the user asked for quiet.
func (s *Streams) Note(format string, args ...any) {
	if s.Quiet.Load() {
		return
	}
	if note := fmt.Sprintf(format, args...); !s.logged(note) {
		s.Stderr(note + "\n")
	}
}

// Warn prints warnings as notes.
func (s *Streams) Warn(warnings ...string) {
	for _, w := range warnings {
		s.Note("warning: %s", w)
	}
}

// SetVolume sets what goes to stderr: 0 notes and errors, below 0 errors, above 0 also details.
// There is no level without errors: a shell has one, 2>/dev/null.
func (s *Streams) SetVolume(level int) {
	s.Quiet.Store(level < 0)
	s.loud = level > 0
}

// Verbose says whether the user asked for details.
func (s *Streams) Verbose() bool { return s.loud }

// Detail is Note for those who ask for more.
func (s *Streams) Detail(format string, args ...any) {
	if s.loud {
		s.Note(format, args...)
	}
}

// Stderr prints text above the bar, if one is drawn.
func (s *Streams) Stderr(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.bar != nil {
		s.bar.erase()
	}
	io.WriteString(s.Err, text)
}

// Result prints a command's one result: doc as JSON with --json, otherwise what
// text writes. doc has a field "schema".
func (s *Streams) Result(doc any, text func(w io.Writer) error) error {
	if !s.JSON {
		return s.paged(text)
	}
	data, err := json.MarshalIndent(doc, "", "  ")
	if err != nil {
		return fmt.Errorf("the result cannot be written as JSON: %w", err)
	}
	_, err = s.Out.Write(append(data, '\n'))
	return err
}

// Line is Result of a line of text.
func (s *Streams) Line(doc any, format string, args ...any) error {
	return s.Text(doc, fmt.Sprintf(format, args...)+"\n")
}

// Text is Result of a text that is at hand.
func (s *Streams) Text(doc any, text string) error {
	return s.Result(doc, func(w io.Writer) error {
		_, err := io.WriteString(w, text)
		return err
	})
}

// Report prints an error to stderr.
func (s *Streams) Report(err error, code int) {
	if s.log != nil && !s.JSON {
		s.log.Error(err.Error(), "exit_code", code)
		return
	}
	if !s.JSON {
		s.Stderr("tercet: " + strings.Replace(err.Error(), gateNotMet, s.PaintNote(Bad, gateNotMet), 1) + "\n")
		return
	}
	data, _ := json.Marshal(printed.Error{Schema: record.ErrorSchema, Error: err.Error(), ExitCode: code}) // strings and an int always encode
	s.Stderr(string(data) + "\n")
}
