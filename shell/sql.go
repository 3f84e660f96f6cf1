package shell

import (
	"slices"
	"strings"
)

// sql judges statements that a client sends: only what reads is not a change.
func sql(u *usage, out WordValue) WordValue {
	u.database()
	seen := false
	for _, g := range u.given {
		if g.instead {
			seen = true
			u.statement(g.value)
		}
	}
	rest := u.operands
	if u.spec.output == "database" && len(rest) > 0 {
		rest = rest[1:]
	} else if u.spec.grammar != "sqlquery" {
		rest = nil
	}
	for _, w := range rest {
		seen = true
		u.statement(w)
	}
	if !seen && u.stdin != nil && u.stdin.Kind == Const {
		seen = true
		u.statement(*u.stdin)
	}
	if !seen && !u.has("-l", "--list", "-V", "-?") {
		u.add(Effect{Action: Executes, Code: "STATEMENTS_FROM_INPUT", Detail: u.name})
	}
	return out
}

// database looks where a client connects to.
func (u *usage) database() {
	places := u.operands
	for _, g := range u.given {
		switch g.name {
		case "-h", "--host":
			if h := g.value.Text; h != "localhost" && h != "127.0.0.1" && h != "::1" {
				u.blame(Connects, "OPTION_HOST", g.value)
			}
		case "-d", "--dbname", "-D", "--database":
			places = slices.Concat(places, []WordValue{g.value})
		}
	}
	for _, w := range places {
		if u.spec.output != "database" && u.spec.grammar == "sql" && (!w.Known() || strings.ContainsAny(w.Text, ":=")) {
			u.blame(Connects, "OPERAND_HOST", w)
		}
	}
}

var (
	sqlReads = names("select explain show describe desc values with pragma")
	sqlMore  = names(`into insert update delete drop alter create truncate replace merge grant revoke copy call do execute exec attach detach
		vacuum reindex analyze lock load install import export set begin commit rollback lock unlock handler outfile dumpfile listen notify
		refresh cluster fsdir zipfile comment security rename purge kill shutdown flush reset optimize repair upsert`)
	sqlFunctions = names(`count sum min max avg total length char_length lower upper coalesce ifnull nullif trim ltrim rtrim substr substring
		round abs ceil ceiling floor power sqrt mod cast date time datetime julianday strftime now current_date current_timestamp year month day
		hour minute second concat concat_ws group_concat string_agg array_agg json_extract json_each json_array_length json_object to_char to_date
		extract date_trunc age greatest least replace position instr like in and or not as on using over values exists any all when then else from
		where select join left right by distinct union having row_number rank dense_rank lag lead first_value last_value version typeof hex quote
		printf format unixepoch iif random table_info index_list index_info foreign_key_list database_list pg_size_pretty pg_database_size
		pg_total_relation_size pg_relation_size partition interval decimal numeric varchar char int integer limit offset return case end is between`)
	sqlPragmas = names("table_info table_list index_list index_info foreign_key_list database_list integrity_check quick_check user_version page_count page_size encoding compile_options")
)

// statement accepts a text whose every statement reads, by its first word and
// by what it calls.
func (u *usage) statement(w WordValue) {
	if !w.Known() {
		u.blame(Executes, "UNKNOWN_STATEMENT", w)
		return
	}
	text := strings.TrimSpace(w.Text)
	if text != "" && (text[0] == '\\' || text[0] == '.') {
		u.metaCommand(w, text)
		return
	}
	words, ok := sqlWords(strings.ToLower(text))
	first, shows := true, false
	for i, word := range words {
		if first {
			shows = word == "show" || word == "describe" || word == "desc"
		}
		switch {
		case word == ";":
			first = true
			continue
		case first && !sqlReads()[word]:
			ok = false
		case first && word == "pragma":
			ok = ok && i+1 < len(words) && sqlPragmas()[words[i+1]] && !contains(words[i:], "=")
		case first && word == "explain":
			first = false
			if i+1 < len(words) && (words[i+1] == "analyze" || words[i+1] == "(") {
				ok = false
			}
			continue
		case !first && sqlMore()[word] && !shows && word != "replace" && word != "desc":
			ok = false
		case word[0] == '\'' && i > 0 && (u.spec.output == "database" || strings.ContainsAny(word, "/.~:")) && (words[i-1] == "from" || words[i-1] == "join" || words[i-1] == ","):
			ok = false // a file, or a table that reads files, by its name
		case word == "(" && i > 0 && words[i-1][0] == '\'':
			ok = false
		case word == "(" && i > 0 && nameByte(words[i-1][0]) && !sqlFunctions()[words[i-1]]:
			ok = false
		}
		first = false
	}
	if !ok || len(words) == 0 {
		u.blame(ChangesService, "STATEMENT_CHANGES", w)
	}
}

func contains(words []string, word string) bool {
	for _, w := range words {
		if w == word {
			return true
		}
	}
	return false
}

// sqlWords splits a statement; strings become one word.
func sqlWords(s string) (words []string, ok bool) {
	for i := 0; i < len(s); {
		c := s[i]
		switch {
		case c == ' ' || c == '\n' || c == '\t':
			i++
		case c == '\'' || c == '"' || c == '`':
			end := strings.IndexByte(s[i+1:], c)
			if end < 0 || strings.Contains(s[i+1:i+1+end], "\\") {
				return nil, false
			}
			words = append(words, "'"+s[i+1:i+1+end])
			i += end + 2
		case strings.HasPrefix(s[i:], "--"), strings.HasPrefix(s[i:], "/*"), c == '#', c == '$', c == '\\':
			return nil, false
		case nameByte(c) || c >= 0x80:
			j := i
			for j < len(s) && (nameByte(s[j]) || s[j] >= 0x80) {
				j++
			}
			words = append(words, s[i:j])
			i = j
		default:
			words = append(words, string(c))
			i++
		}
	}
	return words, true
}

var metaReads = names(`\d \dt \l \dn \du \df \dv \di \ds \d+ \dt+ \l+ \list \conninfo \dx \z \dp \encoding \timing \x
	.tables .schema .databases .indexes .indices .fullschema .show .help .dbinfo .headers .mode`)

func (u *usage) metaCommand(w WordValue, text string) {
	fields := strings.Fields(text)
	if !metaReads()[fields[0]] || strings.ContainsAny(text, "|`\n;!") {
		u.blame(Executes, "CLIENT_COMMAND", w)
	}
}
