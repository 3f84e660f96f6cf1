// Package gatelatch decides whether an agent's tool calls may run.
//
// An agent proposes a [Batch] of calls: the tool calls of one model message.
// Hooks may block a call or replace its input, then a [Policy] gives each call
// a [Verdict]. What policy can't settle waits, durably, for a person, who gives
// a [Decision] bound to the digest of exactly what was shown. A batch is a
// latch: none of its calls may start until every one of them is settled, and
// it opens once, for one holder.
//
// [New] makes a [Gate] over a [Store]; [Gate.As] gives the [Service] that one
// agent or one person may use. The package needs the standard library only.
package gatelatch
