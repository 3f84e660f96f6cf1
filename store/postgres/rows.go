package postgres

import (
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// A kind is a statement that writes rows of one table, however many: each
// parameter is a column of them.
type kind struct {
	table string
	query string
	any   bool // some of the rows may be there, or gone, already
}

// A write is one row of a kind. It counts as stale if PostgreSQL did not write
// exactly that many rows.
type write struct {
	kind *kind
	id   string // of the row in its table
	args []any
	was  int64 // the version that it replaces
	now  stored
}

// The order is that in which every gateway writes.
var kinds = []*kind{
	putRevision, putSession, setSession, putGrant, setGrant, putWork, setWork, delWork, putMessage, setMessage, delMessage, putCursor, setCursor, putKey, setKey, setControl,
	putBatch, setBatch, delBatch, putCall, setCall, delCall,
}

var (
	putRevision = insert("revision", "number bigint, version bigint, body bytea, sum bytea")

	putSession = insert("session", "agent bytea, id bytea, version bigint, body bytea, sum bytea, since bigint")
	setSession = update("session", "agent bytea, id bytea, was bigint", "version bigint, body bytea, sum bytea")
	putGrant   = insert("grants", "id bytea, version bigint, body bytea, sum bytea, live boolean, at bigint")
	setGrant   = update("grants", "id bytea, was bigint", "version bigint, body bytea, sum bytea, live boolean")
	putWork    = insert("work", "id bytea, version bigint, body bytea, sum bytea, at bigint")
	setWork    = update("work", "id bytea, was bigint", "version bigint, body bytea, sum bytea")
	delWork    = remove("work", "id bytea, was bigint")
	putKey     = insert("key", "id bytea, version bigint, body bytea, sum bytea, hash bytea")
	setKey     = update("key", "id bytea, was bigint", "version bigint, body bytea, sum bytea, hash bytea")
	setControl = update("control", "one bigint, was bigint", "version bigint, body bytea, sum bytea")

	putBatch = insert("batch", "id bytea, version bigint, body bytea, sum bytea, pair bytea, claimed bytea, permits boolean, due bigint, over bigint, "+
		"agent bytea, session bytea, message bytea, created bigint")
	setBatch = update("batch", "id bytea, was bigint", "version bigint, body bytea, sum bytea, pair bytea, claimed bytea, permits boolean, due bigint, over bigint")
	delBatch = remove("batch", "id bytea, was bigint")

	// A call's row belongs to who holds its batch's. A ref that another call
	// has makes it stale, and the change runs again, where it finds that one.
	putCall = insert("call", "id bytea, state text, settled bigint, input bytea, result bytea, "+
		"batch bytea, pos bigint, agent bytea, session bytea, ref bytea, tool bytea, created bigint")
	setCall = &kind{table: "call", query: `UPDATE call SET state=v.state, settled=v.settled, input=v.input, result=v.result FROM ` +
		rowsOf("id bytea, state text, settled bigint, input bytea, result bytea") + ` WHERE call.id=v.id`}
	delCall = &kind{table: "call", any: true, query: `DELETE FROM call USING ` + rowsOf("id bytea, batch bytea") + ` WHERE call.id=v.id AND call.batch=v.batch`}

	// Written last, under the lock of the trail's end.
	putInput  = known(insert("input", "hash bytea, bytes bytea"))
	putResult = known(insert("result", "hash bytea, bytes bytea"))
	putEvent  = certain(insert("event", "seq bigint, at bigint, kind bytea, by_kind bytea, by_id bytea, by_name bytea, batch bytea, call bytea, body bytea, prev bytea, link bytea"))
)

// known lets rows be there already.
func known(k *kind) *kind { k.any = true; return k }

// certain fails if one is.
func certain(k *kind) *kind { k.query = strings.TrimSuffix(k.query, doNothing); return k }

const doNothing = " ON CONFLICT DO NOTHING"

// names returns the names of columns that are given with their types.
func names(cols string) (out []string) {
	for col := range strings.SplitSeq(cols, ", ") {
		name, _, _ := strings.Cut(col, " ")
		out = append(out, name)
	}
	return out
}

// rowsOf is the parameters as rows v.
func rowsOf(cols string) string {
	var arrays []string
	for i, col := range strings.Split(cols, ", ") {
		_, typ, _ := strings.Cut(col, " ")
		arrays = append(arrays, fmt.Sprintf("$%d::%s[]", i+1, typ))
	}
	return fmt.Sprintf("unnest(%s) AS v (%s)", strings.Join(arrays, ", "), strings.Join(names(cols), ", "))
}

func insert(table, cols string) *kind {
	list := strings.Join(names(cols), ", ")
	return &kind{table: table, query: fmt.Sprintf("INSERT INTO %s (%s) SELECT %s FROM %s"+doNothing, table, list, list, rowsOf(cols))}
}

// skip makes a row that another gateway holds stale at once: waiting for it
// with others in hand could be a deadlock.
const skip = " SKIP LOCKED"

// held is the rows that are as they were, locked. The last of the keys is the
// version.
func held(table, keys, cols string) (with, same string) {
	ks := names(keys)
	var is, these []string
	for _, k := range ks[:len(ks)-1] {
		is = append(is, fmt.Sprintf("t.%s=v.%s", k, k))
		these = append(these, fmt.Sprintf("t.%s=held.%s", k, k))
	}
	return fmt.Sprintf("WITH held AS (SELECT v.* FROM %s JOIN %s t ON %s AND t.version=v.was FOR NO KEY UPDATE OF t"+skip+") ",
		rowsOf(cols), table, strings.Join(is, " AND ")), strings.Join(these, " AND ")
}

func update(table, keys, cols string) *kind {
	with, same := held(table, keys, keys+", "+cols)
	var sets []string
	for _, c := range names(cols) {
		sets = append(sets, c+"=held."+c)
	}
	return &kind{table: table, query: with + fmt.Sprintf("UPDATE %s t SET %s FROM held WHERE %s", table, strings.Join(sets, ", "), same)}
}

func remove(table, keys string) *kind {
	with, same := held(table, keys, keys)
	return &kind{table: table, query: with + fmt.Sprintf("DELETE FROM %s t USING held WHERE %s", table, same)}
}

// chunk is about how many bytes one statement writes: PostgreSQL refuses
// parameters of a gigabyte.
const chunk = 4 << 20

// queue sends rows in as few statements as chunk allows, and checks how many
// of how many each wrote.
func (k *kind) queue(b *pgx.Batch, query string, rows []write, check func(wrote, of int)) {
	for len(rows) > 0 {
		n, size := 0, 0
		for n < len(rows) && (n == 0 || size < chunk) {
			size += rows[n].size()
			n++
		}
		b.Queue(query, columns(rows[:n])...).Exec(func(tag pgconn.CommandTag) error {
			wrote := int(tag.RowsAffected())
			if k.any {
				wrote = n
			}
			check(wrote, n)
			return nil
		})
		rows = rows[n:]
	}
}

func (w *write) size() (n int) {
	for _, a := range w.args {
		if raw, ok := a.([]byte); ok {
			n += len(raw)
		}
	}
	return n
}

func columns(rows []write) (out []any) {
	for i, first := range rows[0].args {
		switch first.(type) {
		case []byte:
			out = append(out, column[[]byte](rows, i))
		case int64:
			out = append(out, column[int64](rows, i))
		case *int64:
			out = append(out, column[*int64](rows, i))
		case bool:
			out = append(out, column[bool](rows, i))
		case string:
			out = append(out, column[string](rows, i))
		default:
			panic(fmt.Sprintf("postgres: a column of %T", first)) // args are our own
		}
	}
	return out
}

func column[T any](rows []write, i int) []T {
	out := make([]T, len(rows))
	for n := range rows {
		out[n], _ = rows[n].args[i].(T)
	}
	return out
}
