package fault_test

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"github.com/gatelatch/gatelatch/internal/fault"
)

func TestLogSaysWhereAndNotWhat(t *testing.T) {
	t.Parallel()
	const secret = "sk-secret"
	for name, tt := range map[string]struct {
		do   func()
		want string
	}{
		"text":    {func() { panic("bad input: " + secret) }, "a string"},
		"error":   {func() { panic(errors.New("bad input: " + secret)) }, "a *errors.errorString"},
		"runtime": {func() { _ = []byte(secret)[len(secret)+1-1:][1] }, "index out of range"},
	} {
		var out bytes.Buffer
		func() {
			defer func() { fault.Log(slog.New(slog.NewTextHandler(&out, nil)), "a test", recover()) }()
			tt.do()
		}()
		got := out.String()
		if strings.Contains(got, secret) || !strings.Contains(got, tt.want) || !strings.Contains(got, "fault_test.go") {
			t.Errorf("%s: %s", name, got)
		}
	}
}
