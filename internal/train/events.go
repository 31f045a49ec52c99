package train

import (
	"bufio"
	"encoding/json"
	"fmt"

	"tercet/internal/fsx"
	"tercet/internal/record"
)

// Reasons of stop events.
const (
	StopEarly       = "early_stop"
	StopCollapse    = "collapse"
	StopInterrupted = "interrupted"
)

// ReadEvents reads a log; an unfinished last line is passed over.
func ReadEvents(path string) ([]record.Event, error) {
	var list []record.Event
	err := EachEvent(path, func(e *record.Event) { list = append(list, *e) })
	return list, err
}

// EachEvent calls f with the events of a log in turn, as ReadEvents reads them: of a log
// of any size only one is in memory.
func EachEvent(path string, f func(e *record.Event)) error {
	file, _, err := fsx.OpenRegular(path)
	if err != nil {
		return err
	}
	defer file.Close()
	in := bufio.NewReaderSize(file, maxLine)
	for n := 1; ; n++ {
		line, length, whole, err := readLine(in)
		switch {
		case err != nil:
			return err
		case length > int64(len(line)):
			return fmt.Errorf("%s:%d: the line has more than %d bytes, which no event has", path, n, maxLine)
		case !whole:
			return nil
		}
		var e record.Event
		if err := json.Unmarshal(line, &e); err != nil {
			return fmt.Errorf("%s:%d: %s", path, n, record.Words(err))
		}
		f(&e)
	}
}
