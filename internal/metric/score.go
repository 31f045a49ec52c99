package metric

import "tercet/internal/record"

// Value is record.Value.
type Value = record.Value

// Score is record.Score.
type Score = record.Score

// Scores is record.Scores.
type Scores = record.Scores
