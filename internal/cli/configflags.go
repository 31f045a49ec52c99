package cli

import (
	"github.com/spf13/cobra"

	"tercet/internal/config"
)

// configFlags are the flags of every command that reads a config.
type configFlags struct {
	path string
	sets []string
}

func (c *configFlags) addFlags(cmd *cobra.Command) {
	cmd.Flags().StringVarP(&c.path, "config", "c", "", "config `FILE` (YAML); without one, the defaults")
	c.addSet(cmd)
}

func (c *configFlags) addSet(cmd *cobra.Command) {
	cmd.Flags().StringArrayVar(&c.sets, "set", nil, "`KEY=VALUE` to lay over the config, such as optimizer.lr=1e-4; can be repeated")
}

func (c *configFlags) load() (*config.Config, error) { return config.Load(c.path, c.sets) }
