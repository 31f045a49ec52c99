// Package rankstest connects ranks that are goroutines of one test.
package rankstest

import (
	"fmt"
	"sync"

	"tercet/internal/ranks"
)

// Local runs f as every rank of a job of size ranks, each on a goroutine, and returns
// their errors by rank. A rank whose f returns an error or
// panics is lost to the others.
func Local(size int, f func(ranks.Comm) error) []error {
	job := &localJob{size: size, lost: -1, mine: make([][]byte, size), all: make([][]byte, size)}
	job.arrived.L = &job.mu
	errs := make([]error, size)
	var wg sync.WaitGroup
	for rank := range size {
		wg.Go(func() {
			c := &local{job, rank}
			defer func() {
				if v := recover(); v != nil {
					if e, ok := v.(*ranks.LostError); ok {
						errs[rank] = e
					} else {
						errs[rank] = fmt.Errorf("panic: %v", v)
					}
				}
				if errs[rank] != nil {
					c.Abort(1)
				}
			}()
			errs[rank] = f(c)
		})
	}
	wg.Wait()
	return errs
}

// localJob is the memory that the ranks share.
type localJob struct {
	size    int
	mu      sync.Mutex
	arrived sync.Cond
	turn    int // collective calls done
	waiting int // ranks in the present call
	lost    int // the first rank that is lost, or -1
	mine    [][]byte
	all     [][]byte
}

type local struct {
	*localJob
	rank int
}

func (c *local) Rank() int        { return c.rank }
func (c *local) Size() int        { return c.size }
func (c *local) Describe() string { return "goroutines" }
func (c *local) Close() error     { return nil }

// meet waits until all ranks have come, of which the last one does the work.
func (c *local) meet(mine, all []byte, work func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.localJob.mine[c.rank], c.localJob.all[c.rank] = mine, all
	turn := c.turn
	if c.waiting++; c.waiting == c.size {
		work()
		c.waiting = 0
		c.turn++
		c.arrived.Broadcast()
	}
	for c.turn == turn && c.lost < 0 {
		c.arrived.Wait()
	}
	if c.turn == turn {
		panic(&ranks.LostError{Rank: c.lost, Self: "a goroutine"})
	}
}

func (c *local) Allgather(mine, all []byte) {
	if len(all) != c.size*len(mine) {
		panic(fmt.Sprintf("ranks: %d bytes of %d ranks into %d", len(mine), c.size, len(all)))
	}
	c.meet(mine, all, func() {
		for _, to := range c.localJob.all {
			at := 0
			for _, from := range c.localJob.mine {
				at += copy(to[at:], from)
			}
			if at != len(to) {
				panic("ranks: ranks gave unlike numbers of bytes")
			}
		}
	})
}

func (c *local) Alltoall(out, in []byte) {
	if len(out) != len(in) || len(out)%c.size != 0 {
		panic(fmt.Sprintf("ranks: %d bytes for %d ranks into %d", len(out), c.size, len(in)))
	}
	c.meet(out, in, func() {
		for to, in := range c.localJob.all {
			part := len(in) / c.size
			for from, out := range c.localJob.mine {
				if len(out) != len(in) {
					panic("ranks: ranks gave unlike numbers of bytes")
				}
				copy(in[from*part:(from+1)*part], out[to*part:])
			}
		}
	})
}

func (c *local) Abort(int) {
	c.mu.Lock()
	if c.lost < 0 {
		c.lost = c.rank
	}
	c.arrived.Broadcast()
	c.mu.Unlock()
}
