package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/gatelatch/gatelatch"
)

// statement is one row to write.
type statement struct {
	text string
	args []any
}

// change is what one transaction of the product writes.
type change []statement

// op is the two changes of a call that waits for a person.
type op struct{ propose, decide change }

// table is what a database holds, as its driver gives it.
type table struct {
	cols []string
	rows [][]any
}

// dump reads the tables that a propose and a decide write to.
func dump(read func(name string) (table, error)) (map[string]table, error) {
	out := map[string]table{}
	for _, name := range []string{"batch", "call", "input", "event"} {
		t, err := read(name)
		if err != nil {
			return nil, err
		}
		out[name] = t
	}
	return out, nil
}

func (t table) at(row []any, col string) any {
	for i, c := range t.cols {
		if c == col {
			return row[i]
		}
	}
	panic("no column " + col)
}

// key is the value of a column as a map's key: drivers give text or bytes.
func (t table) key(row []any, col string) string { return fmt.Sprintf("%s", t.at(row, col)) }

func (t table) by(col string) map[string][]any {
	out := map[string][]any{}
	for _, row := range t.rows {
		out[t.key(row, col)] = row
	}
	return out
}

// opsOf returns the rows of each op, in the order in which the product wrote
// them: a table's own order is that of its key, which would be kinder to
// indexes. before is all proposed, after all decided.
func opsOf(before, after map[string]table, placeholder string) ([]op, error) {
	w := words{placeholder}
	batches, calls, inputs := before["batch"].by("id"), before["call"].by("batch"), before["input"].by("hash")
	decided, settled := after["batch"].by("id"), after["call"].by("batch")
	var ops []op
	place := map[string]int{}
	for _, e := range after["event"].rows {
		id := after["event"].key(e, "batch")
		i, known := place[id]
		if batches[id] == nil {
			continue
		}
		if !known {
			input, err := inputOf(before["batch"], batches[id], inputs)
			if err != nil {
				return nil, err
			}
			i = len(ops)
			place[id] = i
			ops = append(ops, op{
				propose: change{
					w.insert("batch", before["batch"], batches[id]), w.insert("input", before["input"], input), w.insert("call", before["call"], calls[id]),
				},
				decide: change{
					w.update("batch", before["batch"], batches[id], decided[id]), w.update("call", before["call"], calls[id], settled[id]),
				},
			})
		}
		into := &ops[i].propose
		if after["event"].at(e, "seq").(int64) > int64(len(before["event"].rows)) {
			into = &ops[i].decide
		}
		*into = append(*into, w.insert("event", after["event"], e))
	}
	return ops, nil
}

func inputOf(t table, row []any, inputs map[string][]any) ([]any, error) {
	var b gatelatch.Batch
	if err := json.Unmarshal(t.at(row, "body").([]byte), &b); err != nil {
		return nil, err
	}
	in := inputs[string(b.Calls[0].InputSum[:])]
	if in == nil {
		return nil, errors.New("a batch without its input")
	}
	return in, nil
}

// words writes SQL: placeholders are "?" or "$1".
type words struct{ placeholder string }

func (w words) mark(i int) string {
	if w.placeholder == "?" {
		return "?"
	}
	return fmt.Sprint(w.placeholder, i)
}

func (w words) insert(name string, t table, row []any) statement {
	marks := make([]string, len(row))
	for i := range row {
		marks[i] = w.mark(i + 1)
	}
	return statement{fmt.Sprintf("INSERT INTO %s (%s) VALUES (%s)", name, strings.Join(t.cols, ", "), strings.Join(marks, ", ")), row}
}

// update sets only what differs.
func (w words) update(name string, t table, from, to []any) statement {
	var sets []string
	var args []any
	for i, col := range t.cols {
		if !reflect.DeepEqual(from[i], to[i]) {
			args = append(args, to[i])
			sets = append(sets, col+"="+w.mark(len(args)))
		}
	}
	args = append(args, t.at(to, "id"))
	return statement{fmt.Sprintf("UPDATE %s SET %s WHERE id=%s", name, strings.Join(sets, ", "), w.mark(len(args))), args}
}
