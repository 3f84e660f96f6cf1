package strictjson

// quick reads what most inputs are: an object of names and printable ASCII texts
// without escapes. It leaves everything else, errors above all, to the decoder.
// Tests hold the two against each other.
func quick(raw []byte) (Members, bool) {
	s := string(raw)
	i := blanks(s, 0)
	if i == len(s) || s[i] != '{' {
		return nil, false
	}
	out := make(Members, 0, 2)
	for more := true; more; {
		name, at := plain(s, blanks(s, i+1))
		at = blanks(s, at)
		if at >= len(s) || s[at] != ':' {
			return nil, false
		}
		value, at := plain(s, blanks(s, at+1))
		at = blanks(s, at)
		if at >= len(s) || len(out) == fewNames || repeats(out, nil, name) {
			return nil, false
		}
		out = append(out, Member{name, value})
		i, more = at, s[at] == ','
	}
	return out, s[i] == '}' && blanks(s, i+1) == len(s)
}

func blanks(s string, i int) int {
	for i < len(s) && (s[i] == ' ' || s[i] == '\n') {
		i++
	}
	return i
}

// plain reads a text at i, and returns where it ends. It ends beyond s if there
// is none.
func plain(s string, i int) (string, int) {
	if i >= len(s) || s[i] != '"' {
		return "", len(s)
	}
	for end := i + 1; end < len(s); end++ {
		switch c := s[end]; {
		case c == '"':
			return s[i+1 : end], end + 1
		case c < ' ' || c > '~' || c == '\\':
			return "", len(s)
		}
	}
	return "", len(s)
}
