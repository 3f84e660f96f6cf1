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
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/render"
)

const (
	listenEvery    = 10 * time.Second
	listenSessions = 200
	mostAppended   = 4 << 20          // bytes of a transcript that are read at once
	mostRead       = 8 * mostAppended // of all of them; the others wait for their turn
	mostResults    = 1000             // that are looked up of one file at once
	mostSubagents  = 1000             // of a session whose transcripts are watched
	unseenFor      = 24 * time.Hour   // how long people are told
)

// silence finds sessions whose hooks went silent (SEC-33). An agent without
// hooks sends no word, but its host goes on writing the transcript: a result in
// there of a call that was never proposed ran unasked.
type silence struct {
	store gatelatch.Store
	note  func(ctx context.Context, agent, session string) error

	read map[place]int64 // how far
	next place           // whose turn it is

	mu      sync.Mutex
	problem string
}

// place is where a transcript of a session is: its own, or that of a sub-agent.
type place struct{ agent, session, file string }

// watched is a transcript that may tell of a session.
type watched struct {
	place
	of *gatelatch.Session
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
	known, left := map[place]int64{}, int64(mostRead)
	first := s.next
	s.next = place{}
	for _, w := range from(transcripts(sessions, host), first) {
		known[w.place] = s.read[w.place]
		switch {
		case w.of.Unseen:
		case left > 0:
			ran, next, cost := appended(w.file, s.read[w.place], w.of.Since)
			known[w.place] = next
			left -= cost
			err = errors.Join(err, s.compare(ctx, w.of, ran, now))
		case s.next == place{}:
			s.next = w.place
		}
	}
	problem := ""
	for _, sess := range sessions {
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

// transcripts are the files of this machine that tell of sessions.
func transcripts(sessions []*gatelatch.Session, host string) (out []watched) {
	for _, sess := range sessions {
		if sess.Transcript == "" || sess.Host != host || sess.Unseen {
			continue
		}
		out = append(out, watched{place{sess.Agent, sess.ID, sess.Transcript}, sess})
		for _, file := range subagents(sess.Transcript) {
			out = append(out, watched{place{sess.Agent, sess.ID, file}, sess})
		}
	}
	return out
}

// subagents are the transcripts that the host keeps beside that of a session.
// The folder is foreign: one that can't be read has none.
func subagents(transcript string) (files []string) {
	dir := filepath.Join(strings.TrimSuffix(transcript, ".jsonl"), "subagents")
	if info, err := os.Lstat(dir); err != nil || !filepath.IsAbs(dir) || !info.IsDir() {
		return nil
	}
	f, err := os.OpenFile(dir, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil
	}
	defer f.Close()
	names, _ := f.Readdirnames(mostSubagents)
	for _, name := range names {
		if strings.HasSuffix(name, ".jsonl") {
			files = append(files, filepath.Join(dir, name))
		}
	}
	return files
}

// from begins with whose turn it is, so that none that grows fast keeps the
// others from theirs.
func from(all []watched, first place) []watched {
	i := max(0, slices.IndexFunc(all, func(w watched) bool { return w.place == first }))
	return slices.Concat(all[i:], all[:i])
}

// compare notes a session in which something ran that was never proposed.
func (s *silence) compare(ctx context.Context, sess *gatelatch.Session, ran []string, now time.Time) error {
	unseen := false
	slices.Sort(ran)
	ran = slices.Compact(ran)
	err := s.store.View(ctx, func(r gatelatch.Reader) error {
		for _, ref := range ran[:min(len(ran), mostResults)] {
			switch _, err := r.BatchOfRef(sess.Agent, sess.ID, ref); {
			case errors.Is(err, gatelatch.ErrNotFound):
				unseen = true
				return nil
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
// offset, the offset of the next line, and how much was read for it. What is older than since, such as
// the copy of an older session, says nothing. The file is foreign: whatever
// can't be read has no results.
func appended(file string, from int64, since time.Time) (ran []string, next, cost int64) {
	info, err := os.Lstat(file)
	if err != nil || !filepath.IsAbs(file) || !info.Mode().IsRegular() || info.Size() == from {
		return nil, from, 0
	}
	f, err := os.OpenFile(file, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, from, 0
	}
	defer f.Close()
	if opened, err := f.Stat(); err != nil || !os.SameFile(info, opened) {
		return nil, from, 0 // somebody put another in its place
	}
	if info.Size() < from || info.Size()-from > mostAppended { // it was replaced, or is long
		from = max(0, info.Size()-mostAppended)
	}
	raw, err := io.ReadAll(io.LimitReader(io.NewSectionReader(f, from, mostAppended), mostAppended))
	if err != nil {
		return nil, from, 0
	}
	end := bytes.LastIndexByte(raw, '\n') + 1
	for line := range bytes.Lines(raw[:end]) {
		ran = append(ran, results(line, since)...)
	}
	if end == 0 && len(raw) == mostAppended { // no line is so long
		end = len(raw)
	}
	return ran, from + int64(end), int64(len(raw))
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
