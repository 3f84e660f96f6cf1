import type { Block, Call } from "../src/api.gen";

let last = 0;

/** A call that waits, with whatever a test says about it. */
export function aCall(about: Partial<Call> = {}): Call {
  const n = ++last;
  const id = about.id ?? `cal_${n}`;
  return {
    id,
    batch: { id: `bat_${n}`, size: 1, position: 1, waiting: 1, opened: false },
    agent: "key_1",
    session: { id: "ses_1", name: "Claude Code", project: "/home/mira/checkout-api", host: "ws-14" },
    kind: "permission",
    tool: "Bash",
    state: "pending",
    digest: `d${n}`.padEnd(64, "0"),
    created: new Date(Date.now()).toISOString(),
    verdict: { effect: "ask" },
    input: null,
    card: { icon: "term", says: "Runs a command", subject: `echo ${id}`, blocks: [command(`echo ${id}`)] },
    ...about,
  };
}

export function command(text: string): Block {
  return { kind: "command", segments: [{ text }], bytes: text.length };
}

export function settled(call: Call, state = "allowed", name = "Jon Hale"): Call {
  const at = new Date(Date.now()).toISOString();
  return { ...call, state, decided: { state, by: { kind: "person", name }, at } };
}

export const inSession = (id: string) => ({ id, name: "Codex", project: `/home/mira/${id}` });

export const inBatch = (id: string, position: number, size = 3) => ({ id, size, position, waiting: size, opened: false });
