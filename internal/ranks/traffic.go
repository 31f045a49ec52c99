package ranks

import "time"

// Traffic is what a rank has exchanged with the others.
type Traffic struct {
	Calls int
	Sent  int64         // bytes to other ranks, as many as it has received
	Time  time.Duration // within calls, waiting for slower ranks included
	Wait  time.Duration // within calls that send less than Brief bytes
}

// Brief is the number of bytes below which a call's time is mostly that of waiting for
// slower ranks.
const Brief = 64 << 10

// Metered is c, with what goes through it added to t.
func Metered(c Comm, t *Traffic) Comm { return &metered{c, t} }

type metered struct {
	Comm
	t *Traffic
}

func (m *metered) Allgather(mine, all []byte) {
	defer m.add(len(mine)*(m.Size()-1), time.Now())
	m.Comm.Allgather(mine, all)
}

func (m *metered) Alltoall(out, in []byte) {
	defer m.add(len(out)/m.Size()*(m.Size()-1), time.Now())
	m.Comm.Alltoall(out, in)
}

func (m *metered) add(sent int, begun time.Time) {
	m.t.Calls++
	m.t.Sent += int64(sent)
	took := time.Since(begun)
	m.t.Time += took
	if sent < Brief {
		m.t.Wait += took
	}
}
