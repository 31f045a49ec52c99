// Package runtest makes tiny runs for tests.
package runtest
