package auth

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/internal/id"
	"github.com/gatelatch/gatelatch/internal/statedir"
)

// EnsureFiles makes sure that the state directory holds the agent's key and
// the command line's, and that the store knows both.
func (a *Auth) EnsureFiles(ctx context.Context, dir statedir.Dir) error {
	for _, f := range []struct {
		path, prefix, name string
		kind               gatelatch.KeyKind
	}{
		{dir.AgentKey(), askPrefix, "local agents", gatelatch.AskKey},
		{dir.ApproverKey(), decidePrefix, a.name, gatelatch.DecideKey},
	} {
		secret, err := readOrMake(f.path, f.prefix)
		if err != nil {
			return err
		}
		k := &gatelatch.Key{ID: id.New("key"), Kind: f.kind, Name: f.name, Hash: hash(secret)}
		if err := a.register(ctx, f.path, k); err != nil {
			return err
		}
	}
	return nil
}

func readOrMake(path, prefix string) (string, error) {
	secret, err := statedir.ReadKey(path)
	if errors.Is(err, fs.ErrNotExist) {
		secret = id.Secret(prefix)
		return secret, statedir.WriteKey(path, secret)
	}
	if err == nil && !strings.HasPrefix(secret, prefix+"_") {
		return "", fmt.Errorf("%s does not hold a key of its kind (%s_…); remove it to get a new one", path, prefix)
	}
	return secret, err
}

func (a *Auth) register(ctx context.Context, path string, k *gatelatch.Key) error {
	return a.store.Update(ctx, func(tx gatelatch.Tx) error {
		old, err := tx.KeyByHash(k.Hash)
		switch {
		case errors.Is(err, gatelatch.ErrNotFound):
			k.Created = tx.Now()
			a.files[k.ID] = path
			return create(tx, k, gatelatch.Actor{Kind: gatelatch.GatewayActor})
		case err != nil:
			return err
		case !old.Revoked.IsZero():
			return fmt.Errorf("the key in %s was revoked; remove the file to get a new one", path)
		case old.Kind != k.Kind:
			return fmt.Errorf("the key in %s is a key to %s, not to %s", path, old.Kind, k.Kind)
		}
		a.files[old.ID] = path
		return nil
	})
}
