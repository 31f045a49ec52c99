package mine_test

import (
	"testing"

	"tercet/internal/engine/mine"
	"tercet/internal/engine/mine/minetest"
)

// Every miner that is registered.
func TestEveryMiner(t *testing.T) {
	for _, name := range mine.Family.Names() {
		t.Run(name, func(t *testing.T) { minetest.Check(t, name) })
	}
}
