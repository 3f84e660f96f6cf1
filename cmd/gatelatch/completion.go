package main

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gatelatch/gatelatch/client"
	"github.com/gatelatch/gatelatch/internal/statedir"
	"github.com/spf13/cobra"
	"go.yaml.in/yaml/v3"
)

// completeTime is how long a shell waits for names at most.
const completeTime = time.Second

// completer finds what could stand at a place. It fails silently: a shell that
// completes is no place for errors.
type completer func(cmd *cobra.Command) []cobra.Completion

// completions says what the arguments of a command can be, each in its place.
var completions = map[string][]completer{
	"show":          {anyCalls},
	"allow":         {waitingCalls},
	"deny":          {waitingCalls},
	"reply":         {waitingCalls},
	"edit":          {waitingCalls},
	"mode":          {sessions, words("plan", "default", "acceptEdits", "bypassPermissions")},
	"grants revoke": {grantIDs},
	"keys revoke":   {keyIDs},
	"keys rotate":   {keyIDs},
	"notify test":   {channels},
}

// flagCompletions are those of flags, by command and flag.
var flagCompletions = map[string]completer{
	"allow for":    words("session", "project", "always"),
	"allow choice": words("startEditing", "clearContextAndStart"),
	"allow mode":   words("default", "acceptEdits"),
	"log call":     anyCalls,
}

// addCompletions lets shells complete ids of what there is.
func addCompletions(root *cobra.Command) {
	for path, args := range completions {
		if cmd := commandAt(root, path); cmd != nil {
			cmd.ValidArgsFunction = completeArgs(args)
		}
	}
	for path, find := range flagCompletions {
		name, flag, _ := strings.Cut(path, " ")
		cmd := commandAt(root, name)
		err := cmd.RegisterFlagCompletionFunc(flag, func(cmd *cobra.Command, _ []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
			return beginning(find(cmd), typed), cobra.ShellCompDirectiveNoFileComp
		})
		if err != nil {
			panic(err) // a flag that is not there
		}
	}
}

func commandAt(root *cobra.Command, path string) *cobra.Command {
	cmd, rest, err := root.Find(strings.Fields(path))
	if err != nil || len(rest) > 0 {
		return nil
	}
	return cmd
}

func completeArgs(args []completer) cobra.CompletionFunc {
	return func(cmd *cobra.Command, given []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(given) >= len(args) {
			return nil, cobra.ShellCompDirectiveDefault // a file, perhaps
		}
		return beginning(args[len(given)](cmd), typed), cobra.ShellCompDirectiveNoFileComp
	}
}

// beginning keeps what begins as it was typed. Ids may be typed without the
// part that all of them have, but the shell would not take another beginning.
func beginning(all []cobra.Completion, typed string) []cobra.Completion {
	return slices.DeleteFunc(all, func(c cobra.Completion) bool { return !strings.HasPrefix(c, typed) })
}

func words(list ...string) completer {
	return func(*cobra.Command) []cobra.Completion { return slices.Clone(list) }
}

// fromGateway asks the gateway of --state, if one runs.
func fromGateway(find func(ctx context.Context, c *client.Client) []cobra.Completion) completer {
	return func(cmd *cobra.Command) []cobra.Completion {
		dir, err := statedir.Default()
		if f := cmd.Flags().Lookup("state"); f != nil && f.Value.String() != "" {
			dir, err = statedir.Dir(f.Value.String()), nil
		}
		if err != nil {
			return nil
		}
		c, err := client.ForPeople(dir)
		if err != nil {
			return nil
		}
		ctx, stop := context.WithTimeout(contextOf(cmd), completeTime)
		defer stop()
		return find(ctx, c)
	}
}

func contextOf(cmd *cobra.Command) context.Context {
	if ctx := cmd.Context(); ctx != nil {
		return ctx
	}
	return context.Background()
}

var waitingCalls = fromGateway(func(ctx context.Context, c *client.Client) []cobra.Completion { return callIDs(ctx, c, "pending") })

var anyCalls = fromGateway(func(ctx context.Context, c *client.Client) []cobra.Completion {
	return append(callIDs(ctx, c, "pending"), callIDs(ctx, c, "settled")...)
})

// callIDs describes each id by what would happen: nothing of it is an agent's.
func callIDs(ctx context.Context, c *client.Client, state string) (out []cobra.Completion) {
	list, err := c.Calls(ctx, state, "", 100)
	if err != nil {
		return nil
	}
	for _, x := range list.Calls {
		out = append(out, cobra.CompletionWithDesc(shortID(x.ID), x.Card.Says))
	}
	return out
}

var sessions = fromGateway(func(ctx context.Context, c *client.Client) (out []cobra.Completion) {
	list, err := c.Sessions(ctx)
	if err != nil {
		return nil
	}
	for _, s := range list.Sessions {
		out = append(out, cobra.CompletionWithDesc(s.Session.ID, whose(s.Session)))
	}
	return out
})

var grantIDs = fromGateway(func(ctx context.Context, c *client.Client) (out []cobra.Completion) {
	list, err := c.Grants(ctx, false)
	if err != nil {
		return nil
	}
	for _, g := range list.Grants {
		out = append(out, cobra.CompletionWithDesc(shortID(g.ID), g.Match))
	}
	return out
})

var keyIDs = fromGateway(func(ctx context.Context, c *client.Client) (out []cobra.Completion) {
	list, err := c.Keys(ctx, false)
	if err != nil {
		return nil
	}
	for _, k := range list.Keys {
		out = append(out, cobra.CompletionWithDesc(shortID(k.ID), k.Name))
	}
	return out
})

// channels are the names that config.yaml gives to ways of telling people.
func channels(cmd *cobra.Command) (out []cobra.Completion) {
	given := ""
	if f := cmd.Flags().Lookup("config"); f != nil {
		given = f.Value.String()
	}
	dir, err := configDir(given)
	if err != nil {
		return nil
	}
	raw, err := os.ReadFile(filepath.Join(dir, "config.yaml"))
	var doc yaml.Node
	if err != nil || yaml.Unmarshal(raw, &doc) != nil || len(doc.Content) == 0 {
		return nil
	}
	n := child(child(doc.Content[0], "notify"), "channels")
	for i := 0; n != nil && n.Kind == yaml.MappingNode && i < len(n.Content); i += 2 {
		out = append(out, n.Content[i].Value)
	}
	return out
}
