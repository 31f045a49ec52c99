// Command tercet learns embeddings from triplets and pairs and finds out how far
// they can be trusted.
package main

import (
	"os"

	"tercet/internal/cli"
)

func main() { os.Exit(cli.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }
