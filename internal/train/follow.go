package train

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"

	"tercet/internal/fsx"
	"tercet/internal/record"
)

// Follower reads a log that another process writes, as it grows. The zero value with a Path
// begins at its beginning.
type Follower struct {
	Path string

	file os.FileInfo // the one that was read so far
	at   int64       // behind the last whole line
}

// Next calls each with the events that are new. A line that is not written to its end waits
// for the next call, and one that is no event is passed over. Where the log is another file
// than before, as after a run was resumed, or is shorter, Next calls again and begins at its
// beginning. A log that is not there has no events.
func (f *Follower) Next(again func(), each func(e *record.Event)) error {
	file, _, err := fsx.OpenRegular(f.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	if f.file != nil && (!os.SameFile(f.file, info) || info.Size() < f.at) {
		f.at = 0
		again()
	}
	f.file = info
	in := bufio.NewReaderSize(io.NewSectionReader(file, f.at, info.Size()-f.at), maxLine)
	for {
		line, n, whole, err := readLine(in)
		if err != nil || !whole {
			return err
		}
		f.at += n
		var e record.Event
		if json.Unmarshal(line, &e) == nil {
			each(&e)
		}
	}
}
