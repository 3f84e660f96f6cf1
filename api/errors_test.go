package api

import (
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/gatelatch/gatelatch"
)

// Every kind of problem keeps its meaning on the way to the client.
func TestProblemsKeepTheirMeaning(t *testing.T) {
	t.Parallel()
	for _, k := range Problems {
		if k.Err == nil || k.Code == CodeExpired || k.Code == CodeLapsed {
			continue
		}
		p := FromError(fmt.Errorf("call cal_1: %w", k.Err))
		if p.Code != k.Code || p.Status != k.Status || p.Title == "" || p.Detail != p.Message || !strings.HasSuffix(p.Type, "#"+k.Code) {
			t.Errorf("%s: %+v", k.Code, p)
		}
		if err := (&RemoteError{Body: p}); !errors.Is(err, k.Err) || err.Hint() != k.Hint {
			t.Errorf("%s: %v", k.Code, err)
		}
	}
	if p := FromError(errors.New("disk sda1")); p.Code != CodeInternal || p.Status != 500 || strings.Contains(p.Detail, "sda1") {
		t.Errorf("unknown: %+v", p)
	}
	if err := (&RemoteError{Body: Problem{Code: CodeOrigin}}); errors.Is(err, nil) || errors.Is(err, gatelatch.ErrForbidden) {
		t.Error("a code without an error of the domain has one")
	}
}

// What a person decided is a conflict; what only time settled is gone.
func TestSettledProblems(t *testing.T) {
	t.Parallel()
	for state, want := range map[gatelatch.State]struct {
		code   string
		status int
	}{
		gatelatch.Denied: {"settled", 409}, gatelatch.Withdrawn: {"settled", 409}, gatelatch.Revoked: {"settled", 409},
		gatelatch.Expired: {CodeExpired, 410}, gatelatch.Lapsed: {CodeLapsed, 410},
	} {
		p := FromError(&gatelatch.SettledError{Call: "cal_1", Decided: gatelatch.Decision{State: state}})
		if p.Code != want.code || p.Status != want.status || p.Decided == nil || p.Decided.State != string(state) {
			t.Errorf("%s: %+v", state, p)
		}
		if !errors.Is(&RemoteError{Body: p}, gatelatch.ErrSettled) {
			t.Errorf("%s is not ErrSettled for a client", state)
		}
	}
}

// Every code that the gateway can answer with is a kind of problem.
func TestEveryCodeIsAProblem(t *testing.T) {
	t.Parallel()
	source, err := os.ReadFile("errors.go")
	if err != nil {
		t.Fatal(err)
	}
	codes := regexp.MustCompile(`\tCode\w+ += "(\w+)"`).FindAllStringSubmatch(string(source), -1)
	if len(codes) < 10 {
		t.Fatalf("only %d codes", len(codes))
	}
	for _, m := range codes {
		if !slices.ContainsFunc(Problems, func(k ProblemKind) bool { return k.Code == m[1] }) {
			t.Errorf("%s is no kind of problem", m[1])
		}
	}
}

// The type of a problem leads to where it is explained.
func TestEveryProblemIsExplained(t *testing.T) {
	t.Parallel()
	doc, err := os.ReadFile("../docs/api.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range Problems {
		if !strings.Contains(string(doc), fmt.Sprintf("| <a id=%q></a>`%s` | %d |", k.Code, k.Code, k.Status)) {
			t.Errorf("docs/api.md has no row for %s with its status %d", k.Code, k.Status)
		}
	}
}
