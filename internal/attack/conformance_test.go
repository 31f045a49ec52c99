package attack_test

import (
	"testing"

	"tercet/internal/attack"
	"tercet/internal/attack/attacktest"
)

// Every attack does what attacks do.
func TestConformance(t *testing.T) {
	for _, name := range attack.Attacks() {
		t.Run(name, func(t *testing.T) { attacktest.Check(t, name) })
	}
}
