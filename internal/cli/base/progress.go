package base

import (
	"fmt"
	"time"

	"github.com/schollz/progressbar/v3"
)

// plainEvery is the distance of two progress lines where no bar can be drawn.
const plainEvery = 5 * time.Second

// Progress shows how far a job is: a bar on a terminal, otherwise a plain line
// every few seconds, nothing when quiet. Use it from one goroutine at a time.
type Progress struct {
	s      *Streams
	label  string
	total  int64 // 0: unknown
	n      int64
	first  int64   // done before the start, see Resume
	part   float64 // of items that are under way, see Part
	note   string
	start  time.Time
	last   time.Time
	shown  string // what the last plain line said beside its times; empty before the first
	bar    *progressbar.ProgressBar
	erased bool // the bar's line is empty at the moment
}

// Progress starts a display; total is the sum of all Adds, 0 if unknown.
func (s *Streams) Progress(label string, total int64) *Progress {
	now := s.Now()
	p := &Progress{s: s, label: label, total: total, start: now, last: now}
	if !s.errTTY || s.Quiet.Load() || s.JSON || s.log != nil {
		return p
	}
	length := total
	if length <= 0 {
		length = -1
	}
	p.bar = progressbar.NewOptions64(length,
		progressbar.OptionSetWriter(s.Err),
		progressbar.OptionSetDescription(label),
		progressbar.OptionThrottle(100*time.Millisecond),
		progressbar.OptionShowCount(),
		progressbar.OptionSetPredictTime(false), // its estimate knows nothing of Resume and Part
		progressbar.OptionSetElapsedTime(true),
		progressbar.OptionFullWidth(),
		progressbar.OptionSetRenderBlankState(true),
	)
	s.mu.Lock()
	s.bar = p
	s.mu.Unlock()
	return p
}

// Resume says that n were done before the start; the time left is estimated from
// what comes after them.
func (p *Progress) Resume(n int64) {
	p.first, p.n = n, n
	if p.bar != nil && n > 0 {
		p.s.mu.Lock()
		p.bar.Set64(n)
		p.s.mu.Unlock()
	}
}

// Part says how many items' worth of work the items under way have done, which the
// estimate of the time left counts with those that are done.
func (p *Progress) Part(items float64) { p.part = items }

// Add counts n more. The rest, if any, is a format and its arguments: a short
// note that is shown beside the count until the next one.
func (p *Progress) Add(n int64, note ...any) {
	p.n += n
	if len(note) > 0 && !p.s.Quiet.Load() {
		format, ok := note[0].(string)
		if !ok {
			format = fmt.Sprint(note[0])
		}
		p.note = fmt.Sprintf(format, note[1:]...)
	}
	if p.bar != nil {
		p.s.mu.Lock()
		p.bar.Describe(p.description())
		p.bar.Set64(p.n)
		p.erased = false
		p.s.mu.Unlock()
		return
	}
	if now := p.s.Now(); now.Sub(p.last) >= plainEvery {
		p.line(now)
	}
}

// Shorten makes what is done the whole: no more follows.
func (p *Progress) Shorten() {
	p.total = p.n
	if p.bar != nil {
		p.s.mu.Lock()
		p.bar.ChangeMax64(p.n)
		p.s.mu.Unlock()
	}
}

// Done ends the display.
func (p *Progress) Done() {
	if p.bar != nil {
		p.s.mu.Lock()
		defer p.s.mu.Unlock()
		switch {
		case p.erased: // a note stands where the bar was
		case p.total > 0 && p.n < p.total:
			p.bar.Exit() // stopped early: leave the bar where it is
			fmt.Fprintln(p.s.Err)
		default:
			p.bar.Finish()
			fmt.Fprintln(p.s.Err)
		}
		if p.s.bar == p {
			p.s.bar = nil
		}
		return
	}
	now := p.s.Now()
	if p.shown == "" && now.Sub(p.start) < time.Second || p.shown == p.state() && now.Sub(p.last) < plainEvery {
		return // too short to speak of, or just said
	}
	p.line(now)
}

// erase removes the bar so that a line can be printed; the next Add draws it
// again. The caller holds the lock.
func (p *Progress) erase() {
	p.bar.Clear()
	p.erased = true
}

// state is what a plain line says beside its times.
func (p *Progress) state() string { return fmt.Sprintf("%d; %s", p.n, p.note) }

func (p *Progress) line(now time.Time) {
	p.last, p.shown = now, p.state()
	took := now.Sub(p.start)
	text := fmt.Sprintf("%s: %d", p.label, p.n)
	if p.total > 0 {
		text += fmt.Sprintf("/%d (%d %%)", p.total, 100*p.n/p.total)
	}
	text += ", " + seconds(took)
	if left, known := p.left(now); known {
		text += ", about " + seconds(left) + " left"
	}
	if p.note != "" {
		text += "; " + p.note
	}
	p.s.Note("%s", text)
}

// description is what the bar says before its count.
func (p *Progress) description() string {
	text := p.label
	if p.note != "" {
		text += ": " + p.note
	}
	if left, known := p.left(p.s.Now()); known {
		text += ", about " + seconds(left) + " left"
	}
	return text
}

// left estimates the time left from the time that the work since the start has taken.
func (p *Progress) left(now time.Time) (d time.Duration, known bool) {
	done := float64(p.n-p.first) + p.part
	if p.total <= p.n || done <= 0 {
		return 0, false
	}
	return time.Duration(float64(now.Sub(p.start)) / done * (float64(p.total-p.n) - p.part)), true
}

// seconds rounds to what a reader wants to know.
func seconds(d time.Duration) string {
	if d < 10*time.Second {
		return d.Round(100 * time.Millisecond).String()
	}
	return d.Round(time.Second).String()
}
