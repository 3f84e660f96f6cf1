package backup

import (
	"encoding/json"

	"github.com/gatelatch/gatelatch"
)

// put writes a row so that it lets nothing through.
func (in *restorer) put(table string, v row) error {
	switch table {
	case Control:
		return in.control(v.Bytes)
	case Keys:
		return in.key(v.Bytes)
	case Session:
		return load(v.Bytes, func(s *gatelatch.Session) error {
			s.Chosen = gatelatch.ModeChoice{}
			return in.SaveSession(s)
		})
	case Policy:
		return load(v.Bytes, in.AddRevision)
	case Grants:
		return in.grant(v.Bytes)
	case Inputs:
		return in.PutInput(v.Sum, v.Bytes)
	case Results:
		return in.PutResult(v.Sum, v.Bytes)
	case Batches:
		return load(v.Bytes, func(b *gatelatch.Batch) error {
			b.Restore(in.by, in.at)
			return in.PutBatch(b)
		})
	}
	return damaged("no such table")
}

func load[T any](raw []byte, save func(*T) error) error {
	v := new(T)
	if err := json.Unmarshal(raw, v); err != nil {
		return damaged(err)
	}
	return save(v)
}

// control keeps a pause, and begins a new epoch: no verdict of an old one holds.
func (in *restorer) control(raw []byte) error {
	now, err := in.Control()
	if err != nil {
		return err
	}
	return load(raw, func(c *gatelatch.Control) error {
		c.Epoch++
		c.Version = now.Version
		return in.SaveControl(*c)
	})
}

// key keeps the keys of agents and of command lines, which lie in files. A
// browser logs in again.
func (in *restorer) key(raw []byte) error {
	return load(raw, func(k *gatelatch.Key) error {
		if k.Kind != gatelatch.BrowserKey || !k.Revoked.IsZero() {
			return in.SaveKey(k)
		}
		k.Revoked = in.at
		if err := in.SaveKey(k); err != nil {
			return err
		}
		return in.record(gatelatch.KeyRevoked, map[string]string{"key": k.ID})
	})
}

func (in *restorer) grant(raw []byte) error {
	return load(raw, func(g *gatelatch.Grant) error {
		if !g.Revoked.IsZero() {
			return in.SaveGrant(g)
		}
		g.Revoke(in.by, in.at)
		if err := in.SaveGrant(g); err != nil {
			return err
		}
		return in.record(gatelatch.GrantRevoked, map[string]string{"grant": g.ID})
	})
}
