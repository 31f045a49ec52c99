package printed

import "encoding/json"

// Table is a table as --format json prints it, schema tercet.table/1. A row is an object in
// the order of the columns.
type Table struct {
	Schema  string            `json:"schema" doc:"the name and number of the schema"`
	Title   string            `json:"title,omitempty" doc:"title"`
	Columns []string          `json:"columns" doc:"names of the columns, in order"`
	Rows    []json.RawMessage `json:"rows" doc:"one object for each row, by column: text, an integer, null, or a measured number ('value', 'ci95', and 'n' if not that of the row)"`
	Notes   []string          `json:"notes,omitempty" doc:"notes on the table"`
}
