package shell

import "strings"

// text adds text that is known.
func (b *builder) text(s string) {
	switch {
	case len(b.cur.Text)+len(s) > MaxSource:
		b.cur = WordValue{Kind: Fields}
	case !b.started:
		b.cur = WordValue{Kind: Const, Text: s, home: b.cur.home}
	case b.cur.Kind == Const || b.cur.Kind == Glob:
		b.cur.Text += s
	case b.cur.Kind == OneOf:
		alts := make([]string, len(b.cur.Alts))
		for i, a := range b.cur.Alts {
			alts[i] = a + s
		}
		b.cur.Alts, b.cur.Text = alts, alts[0]
	case b.cur.Kind == Integer && s != "":
		b.cur = WordValue{}
	case (b.cur.Kind == Names || b.cur.Kind == Listed) && s != "":
		// $dir/name stays below, $dir/.. and $dir. need not.
		if b.tail || s[0] != '/' || strings.Contains(s, "..") || s[len(s)-1] == '.' {
			b.cur = WordValue{Kind: Any}
		}
		b.tail = true
	}
	b.started = true
}

// add adds the value of an expansion.
func (b *builder) add(v WordValue, quoted bool) {
	quoted = quoted || b.whole
	switch v.Kind {
	case Const:
		b.constant(v.Text, quoted)
	case OneOf:
		b.oneOf(v, quoted)
	default:
		b.open(v, quoted)
	}
}

func (b *builder) constant(s string, quoted bool) {
	if quoted {
		b.text(s)
		return
	}
	if b.assigned("IFS") && s != "" {
		b.open(WordValue{}, false)
		return
	}
	rest := s
	for {
		i := strings.IndexAny(rest, " \t\n")
		if i < 0 {
			break
		}
		if i > 0 {
			b.text(rest[:i])
			b.markGlob(rest[:i])
		}
		if b.started {
			b.finish()
		}
		rest = rest[i+1:]
	}
	if rest != "" {
		b.text(rest)
		b.markGlob(rest)
	}
}

func (b *builder) oneOf(v WordValue, quoted bool) {
	for _, a := range v.Alts {
		if !quoted && (a == "" || strings.ContainsAny(a, " \t\n*?[") || b.assigned("IFS")) {
			b.open(WordValue{}, false)
			return
		}
	}
	before := []string{""}
	if b.started {
		before = choices(b.cur)
	}
	if len(before) == 0 || len(before)*len(v.Alts) > maxAlts {
		b.open(WordValue{}, quoted)
		return
	}
	var alts []string
	for _, p := range before {
		for _, a := range v.Alts {
			alts = append(alts, p+a)
		}
	}
	b.cur, b.started = WordValue{Kind: OneOf, Text: alts[0], Alts: alts}, true
}

// open adds a value that is not one text. An unquoted one may be several words.
func (b *builder) open(v WordValue, quoted bool) {
	begin := ""
	quoted = quoted || v.Kind == Integer && !b.assigned("IFS") // nothing in it is split
	if b.started && b.cur.Kind == Const && b.cur.Text == "" {
		b.started = false // only quotes so far
	}
	if b.started {
		if b.cur.Kind == Const || b.cur.Kind == Begins {
			begin = b.cur.Text
		}
		if b.cur.Kind == Fields || b.cur.Kind == Listed {
			quoted = false
		}
	}
	kind := v.Kind
	if b.started && (b.cur.Kind == Names || b.cur.Kind == Listed) {
		kind = Any // what follows a path may lead anywhere
	}
	switch {
	case !b.started && (kind == Names || kind == Listed || kind == Integer || kind == Glob):
	case kind == Integer && quoted:
		kind, v.Text = Begins, begin
	case (kind == Names || kind == Listed) && v.Text == "" && strings.HasSuffix(begin, "/"):
		v.Text = begin // src/$name
	case quoted && begin != "":
		kind, v.Text = Begins, begin
	case quoted:
		kind, v.Text = Any, ""
	default:
		kind, v.Text = Fields, begin
	}
	if quoted && kind == Listed {
		kind = Any // several lines in one word
	}
	b.cur = WordValue{Kind: kind, Text: v.Text, home: b.cur.home, secret: v.secret, named: v.named}
	b.started = true
}
