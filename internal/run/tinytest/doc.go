// Package tinytest holds configs of tiny runs, files and small helpers for tests.
package tinytest
