package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/render"
)

const (
	listenEvery    = 10 * time.Second
	listenSessions = 200
	mostAppended   = 4 << 20        // bytes of a transcript that are read at once
	unseenFor      = 24 * time.Hour // how long people are told
)

// silence finds sessions whose hooks went silent (SEC-33). An agent without
// hooks sends no word, but its host goes on writing the transcript: a result in
// there of a call that was never proposed ran unasked.
type silence struct {
	store gatelatch.Store
	note  func(ctx context.Context, agent, session string) error

	read map[string]int64 // by transcript, how far

	mu      sync.Mutex
	problem string
}

func (s *silence) run(ctx context.Context, log *slog.Logger) {
	tick := time.NewTicker(listenEvery)
	defer tick.Stop()
	for {
		if err := s.check(ctx); err != nil && ctx.Err() == nil {
			log.Warn("could not look for sessions that went silent", "err", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// check reads what transcripts of this machine gained since it looked last.
func (s *silence) check(ctx context.Context) error {
	host, err := os.Hostname()
	if err != nil {
		return err
	}
	var sessions []*gatelatch.Session
	var now time.Time
	err = s.store.View(ctx, func(r gatelatch.Reader) error {
		now = r.Now()
		sessions, err = r.Sessions(listenSessions)
		return err
	})
	if err != nil {
		return err
	}
	known := map[string]int64{}
	problem := ""
	for _, sess := range sessions {
		if sess.Transcript != "" && sess.Host == host && !sess.Unseen {
			var ran []string
			ran, known[sess.Transcript] = appended(sess.Transcript, s.read[sess.Transcript], sess.Since)
			err = errors.Join(err, s.compare(ctx, sess, ran, now))
		}
		if sess.Unseen && now.Sub(sess.UnseenAt) < unseenFor && problem == "" {
			problem = fmt.Sprintf("a call ran unasked in session %s of %s: its hooks may be gone or broken; gatelatch doctor says more",
				render.OneLine(sess.ID), render.OneLine(sess.Project))
		}
	}
	s.read = known
	s.mu.Lock()
	defer s.mu.Unlock()
	s.problem = problem
	return err
}

// compare notes a session in which something ran that was never proposed.
func (s *silence) compare(ctx context.Context, sess *gatelatch.Session, ran []string, now time.Time) error {
	unseen := false
	err := s.store.View(ctx, func(r gatelatch.Reader) error {
		for _, ref := range ran {
			switch _, err := r.BatchOfRef(sess.Agent, sess.ID, ref); {
			case errors.Is(err, gatelatch.ErrNotFound):
				unseen = true
			case err != nil:
				return err
			}
		}
		return nil
	})
	if err != nil || !unseen {
		return err
	}
	sess.Unseen, sess.UnseenAt = true, now
	return s.note(ctx, sess.Agent, sess.ID)
}

// Problem is a notice for people, "" if no session went silent.
func (s *silence) Problem() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.problem
}

// appended returns the ids of calls that have a result in the lines behind an
// offset, and the offset of the next line. What is older than since, such as
// the copy of an older session, says nothing. The file is foreign: whatever
// can't be read has no results.
func appended(file string, from int64, since time.Time) (ran []string, next int64) {
	info, err := os.Lstat(file)
	if err != nil || !filepath.IsAbs(file) || !info.Mode().IsRegular() || info.Size() == from {
		return nil, from
	}
	f, err := os.OpenFile(file, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, from
	}
	defer f.Close()
	if info.Size() < from || info.Size()-from > mostAppended { // it was replaced, or is long
		from = max(0, info.Size()-mostAppended)
	}
	raw, err := io.ReadAll(io.LimitReader(io.NewSectionReader(f, from, mostAppended), mostAppended))
	if err != nil {
		return nil, from
	}
	end := bytes.LastIndexByte(raw, '\n') + 1
	for line := range bytes.Lines(raw[:end]) {
		ran = append(ran, results(line, since)...)
	}
	return ran, from + int64(end)
}

// results returns the calls that a line of a transcript has results of.
func results(line []byte, since time.Time) (ran []string) {
	var l struct {
		Type      string    `json:"type"`
		Timestamp time.Time `json:"timestamp"`
		Message   struct {
			Content json.RawMessage `json:"content"`
		} `json:"message"`
	}
	if json.Unmarshal(line, &l) != nil || l.Type != "user" || !l.Timestamp.After(since) {
		return nil
	}
	var blocks []struct {
		Type    string `json:"type"`
		ID      string `json:"tool_use_id"`
		IsError bool   `json:"is_error"`
	}
	if json.Unmarshal(l.Message.Content, &blocks) != nil {
		return nil
	}
	for _, b := range blocks {
		if b.Type == "tool_result" && b.ID != "" && !b.IsError { // a refusal is an error, too
			ran = append(ran, b.ID)
		}
	}
	return ran
}
