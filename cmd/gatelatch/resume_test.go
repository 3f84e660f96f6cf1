package main

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gatelatch/gatelatch/api"
)

const someSession = "8d7cc9ba-7625-466b-b84b-dac3f65d34b1"

func TestResumeRunsWhereTheSessionWas(t *testing.T) {
	home := t.TempDir()
	t.Setenv("CLAUDE_CONFIG_DIR", home)
	write := func(project, session, text string) {
		t.Helper()
		dir := filepath.Join(home, "projects", project)
		if err := errors.Join(os.MkdirAll(dir, 0o700), os.WriteFile(filepath.Join(dir, session+".jsonl"), []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	const (
		nowhere = "11111111-7625-466b-b84b-dac3f65d34b1"
		twice   = "22222222-7625-466b-b84b-dac3f65d34b1"
		missing = "33333333-7625-466b-b84b-dac3f65d34b1"
	)
	write("-p", someSession, "{\"type\":\"mode\"}\nnot JSON\n{\"cwd\":\"/home/me/project\"}\n{\"cwd\":\"/elsewhere\"}\n")
	write("-p", nowhere, "{\"cwd\":\"relative\"}\n")
	write("-p", twice, "{\"cwd\":\"/one\"}")
	write("-q", twice, "{\"cwd\":\"/two\"}")
	for session, want := range map[string]string{
		someSession: "/home/me/project", nowhere: "", twice: "", missing: "",
		// An agent chooses its session's name.
		"": "", "--dangerously-skip-permissions": "", "*": "", "../-p/" + someSession: "", strings.ToUpper(someSession): "", someSession + "\n": "",
	} {
		dir, err := sessionDir(session)
		if dir != want || (err == nil) != (want != "") {
			t.Errorf("%q: %q, %v", session, dir, err)
		}
	}
}

func TestResumeGoesOnOnceForEachDecision(t *testing.T) {
	var ran []string
	r := &resumer{
		out: io.Discard, notes: io.Discard, tried: map[string]bool{},
		dir: func(s string) (string, error) {
			if s == "foreign" {
				return "", errNoSession
			}
			return "/p", nil
		},
		run: func(_ context.Context, _, session string, _, _ io.Writer) error {
			ran = append(ran, session)
			if session == "fails" {
				return errors.New("exit status 1")
			}
			return nil
		},
	}
	at := time.Unix(1, 0)
	ds := []api.Deferral{
		{Batch: "b1", Session: api.Session{ID: "waits"}, Since: at},
		{Batch: "b2", Session: api.Session{ID: "foreign"}, Since: at, Ready: true},
		{Batch: "b3", Session: api.Session{ID: "fails"}, Since: at, Ready: true},
		{Batch: "b4", Session: api.Session{ID: "ready"}, Since: at, Ready: true},
	}
	if n, err := r.resume(t.Context(), ds); n != 3 || !errors.Is(err, errNoSession) || !strings.Contains(err.Error(), "exit status 1") {
		t.Errorf("%d tried, %v", n, err)
	}
	ds[0].Ready, ds[3].Since = true, at.Add(time.Second) // decided; deferred anew
	if n, err := r.resume(t.Context(), ds); n != 2 || err != nil {
		t.Errorf("%d tried, %v", n, err)
	}
	if want := []string{"fails", "ready", "waits", "ready"}; !slices.Equal(ran, want) {
		t.Errorf("ran %v, want %v", ran, want)
	}
}
