import { beforeEach, describe, expect, it } from "vitest";
import type { Call } from "../src/api.gen";
import { calls, drop, filter, groups, hover, neighbour, nextWaiting, order, put, select, selected, waiting } from "../src/queue/store";
import { aCall, inBatch, inSession, settled } from "./calls";

const ids = (...list: Call[]) => list.map((c) => c.id);

describe("the list", () => {
  let a: Call, b: Call, c: Call;
  beforeEach(() => {
    [a, b, c] = [aCall({ session: inSession("one") }), aCall({ session: inSession("two") }), aCall({ session: inSession("one") })];
    [a, b, c].forEach(put);
  });

  it("keeps sessions together, and new calls at their end", () => {
    expect(order.value).toEqual(ids(a, c, b));
    expect(groups.value.map((g) => g.session.id)).toEqual(["one", "two"]);
  });

  it("moves nothing while the pointer is over it", () => {
    hover(true);
    const before = [...order.value];
    const late = aCall({ session: inSession("one") });
    put(late);
    put(settled(a));
    put(settled(c));
    put({ ...b, digest: "changed" });
    expect(order.value).toEqual([...before, late.id]);
    hover(false);
    expect(order.value).toEqual(ids(a, late, b)); // a is still selected
  });

  it("draws anew only what changed", () => {
    const [one, two] = groups.value;
    put(aCall({ session: inSession("two") }));
    const [same, other] = groups.value;
    expect(same).toBe(one);
    expect(other).not.toBe(two);
    expect(other!.runs[0]).toBe(two!.runs[0]);
  });

  it("puts a batch in one bracket", () => {
    const batch = [1, 2, 3].map((n) => aCall({ session: inSession("one"), batch: inBatch("bat", n) }));
    batch.forEach(put);
    const runs = groups.value[0]!.runs;
    expect(runs.map((r) => [r.size, r.calls.length])).toEqual([[1, 1], [1, 1], [3, 3]]);
  });

  it("shows only what has all the words, and keeps the selection", () => {
    filter.value = "TWO  codex";
    expect(groups.value.flatMap((g) => g.runs).flatMap((r) => r.calls).map((x) => x.id)).toEqual([b.id]);
    expect(selected.value).toBe(a.id);
    expect(neighbour(1)).toBe(b.id);
  });
});

describe("a settled call", () => {
  it("stays while it is in focus, and goes when another is chosen", () => {
    const [a, b] = [aCall(), aCall()];
    [a, b].forEach(put);
    put(settled(a, "denied"));
    expect(order.value).toEqual(ids(a, b));
    expect(selected.value).toBe(a.id);
    select(b.id);
    expect(order.value).toEqual(ids(b));
  });

  it("goes at once when it was not in focus and the list is left alone", () => {
    const [a, b] = [aCall(), aCall()];
    [a, b].forEach(put);
    put(settled(b));
    expect(order.value).toEqual(ids(a));
  });

  it("never comes back, whichever answer arrives last", () => {
    const [a, b] = [aCall(), aCall()];
    [a, b].forEach(put);
    put(settled(a));
    put(a);
    expect(calls.value.get(a.id)?.state).toBe("allowed");
    expect(waiting.value).toBe(1);
  });

  it("is not listed when it never waited here", () => {
    put(settled(aCall()));
    expect(order.value).toEqual([]);
    expect(selected.value).toBeNull();
  });
});

describe("moving", () => {
  it("goes to the next call that waits, from the top again at the end", () => {
    const [a, b, c] = [aCall(), aCall(), aCall()];
    [a, b, c].forEach(put);
    hover(true);
    put(settled(b));
    expect(nextWaiting(a.id)).toBe(c.id);
    expect(nextWaiting(c.id)).toBe(a.id);
    put(settled(a));
    put(settled(c));
    expect(nextWaiting(c.id)).toBeNull();
  });

  it("stops at both ends", () => {
    const [a, b] = [aCall(), aCall()];
    [a, b].forEach(put);
    expect(neighbour(-1)).toBeNull();
    select(b.id);
    expect(neighbour(1)).toBeNull();
    expect(neighbour(-1)).toBe(a.id);
  });

  it("takes the first call that comes when there was none, and the next when one is dropped", () => {
    const [a, b] = [aCall(), aCall()];
    put(a);
    expect(selected.value).toBe(a.id);
    put(b);
    drop(a.id);
    expect(selected.value).toBe(b.id);
    drop(b.id);
    expect(selected.value).toBeNull();
  });
});
