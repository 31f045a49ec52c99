// Package eval is the command that evaluates a run or embeddings.
package eval
