package sharded

// dealing says which rows of a batch each shard has. A batch of roles x n rows, whose
// tuple i has rows i, n+i, 2n+i and so on, is dealt by tuples; else roles is 1.
type dealing struct{ rows, roles, shards int }

// span is rows [lo, hi).
type span struct{ lo, hi int }

// deal returns the dealing of a batch; ok is false where it is too small, so that some
// shard would have fewer than least rows.
func deal(rows, roles, shards, least int) (d dealing, ok bool) {
	if roles < 1 || rows%roles != 0 || rows/roles < shards {
		roles = 1
	}
	return dealing{rows, roles, shards}, rows/shards >= least
}

// of appends the rows of a shard to list.
func (d dealing) of(shard int, list []span) []span {
	n := d.rows / d.roles
	lo, hi := shard*n/d.shards, (shard+1)*n/d.shards
	for role := range d.roles {
		list = append(list, span{role*n + lo, role*n + hi})
	}
	return list
}

// rank appends the rows of shards [from, to), and, to bounds, where each one's begin and
// end among them.
func (d dealing) rank(from, to int, list []span, bounds []int) ([]span, []int) {
	at := 0
	bounds = append(bounds, 0)
	for s := from; s < to; s++ {
		first := len(list)
		list = d.of(s, list)
		for _, p := range list[first:] {
			at += p.hi - p.lo
		}
		bounds = append(bounds, at)
	}
	return list, bounds
}

// length is the number of rows of spans.
func length(list []span) int {
	n := 0
	for _, s := range list {
		n += s.hi - s.lo
	}
	return n
}

// whole reports whether the spans are all rows in their order.
func whole(list []span, rows int) bool {
	at := 0
	for _, s := range list {
		if s.lo != at {
			return false
		}
		at = s.hi
	}
	return at == rows
}
