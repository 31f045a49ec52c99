package testutil

import "runtime"

// ballast is memory that no test touches, so that it costs none. The collector runs when
// the heap has doubled: tests of commands hold some 5 MB, allocate 100 times as much, and
// spent half of their time in it. With the ballast it runs each 64 MB.
var ballast []byte

func init() {
	ballast = make([]byte, 64<<20)
	runtime.KeepAlive(ballast)
}
