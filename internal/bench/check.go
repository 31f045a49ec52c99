package bench

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"

	"tercet/internal/par"
	"tercet/internal/record/printed"
)

// digest is the hash of one result.
type digest struct {
	name string
	sum  [sha256.Size]byte
}

// Check does that many repetitions of each part of j with one thread, and again
// from the beginning with those of par.Threads, at least two, and compares all
// numbers that they leave: of a training job, parameters and statistics.
func (j Job) Check(ctx context.Context, o Options, repetitions int) (*printed.BenchCheck, error) {
	defer par.SetThreads(par.Threads())
	c := &printed.BenchCheck{Job: j.Name, Threads: [2]int{1, max(2, par.Threads())}, Repetitions: repetitions}
	var digests [2][]digest
	for i, n := range c.Threads {
		par.SetThreads(n)
		var err error
		if digests[i], err = j.digests(ctx, o, repetitions); err != nil {
			return nil, fmt.Errorf("job %s with %d threads: %w", j.Name, n, err)
		}
	}
	c.Arrays, c.Identical = len(digests[0]), true
	for i, d := range digests[0] {
		if d != digests[1][i] {
			c.Identical, c.Difference = false, d.name
			break
		}
	}
	return c, nil
}

func (j Job) digests(ctx context.Context, o Options, repetitions int) ([]digest, error) {
	tasks, err := j.prepare(o)
	if err != nil {
		return nil, err
	}
	var out []digest
	for i := range tasks {
		t := &tasks[i]
		done := 0
		err := t.run(ctx, func() bool {
			done++
			return done < repetitions && ctx.Err() == nil
		})
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return nil, err
		}
		t.results(func(name string, data []float32) {
			if t.name != "" {
				name = t.name + ": " + name
			}
			out = append(out, digest{name, hash(data)})
		})
		tasks[i] = task{}
	}
	return out, nil
}

// hash is of the bits of x.
func hash(x []float32) [sha256.Size]byte {
	h := sha256.New()
	buf := make([]byte, 0, 4096)
	for len(x) > 0 {
		n := min(len(x), cap(buf)/4)
		buf = buf[:0]
		for _, v := range x[:n] {
			buf = binary.LittleEndian.AppendUint32(buf, math.Float32bits(v))
		}
		h.Write(buf)
		x = x[n:]
	}
	return [sha256.Size]byte(h.Sum(nil))
}
