package kernel

// available lists the levels that can run here, slowest first.
var available = []Level{Generic}
