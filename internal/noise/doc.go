// Package noise disturbs labels on purpose, by a known amount.
package noise
