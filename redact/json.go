package redact

import (
	"bytes"
	"encoding/json"
	"strings"
)

// JSON returns raw with the secrets in its texts masked, names of members
// included, and whatever is under a name for a secret. The rest stays byte for
// byte. What is not JSON is text.
func JSON(raw []byte) []byte {
	if !json.Valid(raw) {
		return []byte(Text(string(raw)))
	}
	var out bytes.Buffer
	at, name := 0, ""
	for i := 0; i < len(raw); {
		switch c := raw[i]; {
		case c == '"':
			end := endOfText(raw, i)
			isName := isMember(raw, end)
			text := string(raw[i+1 : end-1])
			if strings.IndexByte(text, '\\') >= 0 {
				_ = json.Unmarshal(raw[i:end], &text) // it is valid
			}
			masked := Text(text)
			if !isName {
				masked = under(name, text, masked)
			}
			if masked != text {
				out.Write(raw[at:i])
				out.Write(quote(masked))
				at = end
			}
			if name = ""; isName {
				name = text
			}
			i = end
		case c == '-' || c >= '0' && c <= '9':
			end := run(string(raw[i:min(len(raw), i+64)]), 0, &number) + i
			if text := string(raw[i:end]); weigh(name) == sure && len(text) >= 4 {
				out.Write(raw[at:i])
				out.Write(quote(Mask(text)))
				at = end
			}
			i, name = max(end, i+1), ""
		case c == '{' || c == ',' || c == '}' || c == ']':
			i, name = i+1, ""
		default:
			i++
		}
	}
	if at == 0 {
		return raw
	}
	out.Write(raw[at:])
	return out.Bytes()
}

var number = bytesOf(digits + "+-.eE")

// under masks a whole text that stands under a name for a secret.
func under(name, text, masked string) string {
	if name == "" || text == "" || masked != text || reference(text) {
		return masked
	}
	switch w := weigh(name); {
	case w == sure, w == likely && len(text) >= 8 && !plain(text) && !strings.Contains(text, " "), w == hint && dense(text):
		return Mask(text)
	}
	return masked
}

func endOfText(raw []byte, i int) int {
	for i++; raw[i] != '"'; i++ {
		if raw[i] == '\\' {
			i++
		}
	}
	return i + 1
}

func isMember(raw []byte, i int) bool {
	for i < len(raw) && bytes.IndexByte([]byte(" \t\r\n"), raw[i]) >= 0 {
		i++
	}
	return i < len(raw) && raw[i] == ':'
}

// quote writes a text without the escapes for HTML that json.Marshal adds.
func quote(s string) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(s); err != nil {
		panic(err) // a string never fails
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}
