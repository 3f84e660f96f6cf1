package modeltest

// sometimes are the rare states that a campaign has to reach.
var sometimes = []string{
	"found again", "found again after a restart", "propose: conflict", "propose: opened",
	"await: opened", "await: finished", "the same holder asked again", "a later phase opened", "another holder with a higher fence",
	"consume: changed", "consume: fenced", "consume: order", "consume: consumed", "consume: settled", "consume: waiting", "consume: paused",
	"consume: finished", "the same nonce consumed again", "consuming found the grant revoked", "a grant was revoked before its allow was consumed",
	"report: fenced", "report: conflict", "report: invalid", "a late report replaced unknown", "a host ran what nobody had consumed",
	"extend: waiting", "extend: conflict", "extended by the same again", "finish: unfinished", "finish: fenced",
	"decide: changed", "decide: settled", "decide: invalid", "decided in the tick of the deadline", "the same decision again",
	"edit: changed", "edit: settled", "edit: invalid", "intrude: missing", "intrude: forbidden",
	"park: settled", "park: invalid", "park: conflict", "the host came back", "an allow was taken over", "a denial was taken over",
	"a question was taken over", "an edited question was taken over", "leaving withdrew", "parked stays", "said with the next prompt",
	"an interrupt denied another call", "ran unseen",
}
