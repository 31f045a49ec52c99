module tercet/internal/engine/kernel/_generate

go 1.26.0

require github.com/mmcloughlin/avo v0.6.0

// x/tools is raised: the version that avo asks for does not compile with this Go.
require (
	golang.org/x/mod v0.29.0 // indirect
	golang.org/x/sync v0.17.0 // indirect
	golang.org/x/tools v0.38.0 // indirect
)
