// Package rendertest looks into pictures for tests.
package rendertest
