package server

import (
	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/api"
	"github.com/gatelatch/gatelatch/render"
)

func viewBound(b *gatelatch.Bound) *api.Bound {
	if b == nil {
		return nil
	}
	out := &api.Bound{Unbound: string(b.Unbound), Server: viewServer(b.Server)}
	for _, f := range b.Files {
		file := api.BoundFile{Path: render.OneLine(f.Path), Real: render.OneLine(f.Real), Writes: f.Writes}
		if f.Sum != (gatelatch.Sum{}) {
			file.Sum = f.Sum.String()
		}
		out.Files = append(out.Files, file)
	}
	return out
}

func viewServer(s *gatelatch.Server) *api.Server {
	if s == nil {
		return nil
	}
	return &api.Server{Name: render.OneLine(s.Name), Source: render.OneLine(s.Source), Launch: render.OneLine(s.Launch), Sum: s.Sum.String()}
}
