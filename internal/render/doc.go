// Package render draws results for people: tables, plots, contact sheets and pages, from
// plain values. It knows no type of Tercet and not how a number was made.
package render
