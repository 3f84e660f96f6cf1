package hostprobe

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"

	"github.com/gatelatch/gatelatch/internal/statedir"
	"github.com/gatelatch/gatelatch/internal/strictjson"
)

// HTTPHooks is the channel of hooks of type http: the agent asks the gateway
// itself, and blocks what gets no answer.
func HTTPHooks() Channel {
	command := func(s *Stage, prompt string) ([]string, error) {
		url, key, err := s.httpDoor()
		if err != nil {
			return nil, err
		}
		hook := map[string]any{
			"type": "http", "url": fmt.Sprintf("%s/hooks/claude?limit=%d", url, s.Limit()), "timeout": s.Limit(), "onFailure": "block",
			"headers": map[string]string{"Authorization": "Bearer " + key},
		}
		settings, err := strictjson.Marshal(map[string]any{"hooks": map[string]any{
			"PreToolUse": []any{map[string]any{"matcher": "*", "hooks": []any{hook}}},
		}})
		return s.Claude(prompt), errors.Join(err, os.WriteFile(filepath.Join(s.Home, ".claude", "settings.json"), settings, 0o600))
	}
	return Channel{Name: "http", Command: command}
}

// httpDoor is where the gateway of the stage listens for hooks, or where nobody
// does if there is none.
func (s *Stage) httpDoor() (url, key string, err error) {
	where, err := s.State.Gateway()
	if errors.Is(err, statedir.ErrNoGateway) {
		ln, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return "", "", err
		}
		return "http://" + ln.Addr().String(), "gka_probe", ln.Close()
	}
	if err != nil {
		return "", "", err
	}
	key, err = statedir.ReadKey(s.State.AgentKey())
	return where.URL, key, err
}
