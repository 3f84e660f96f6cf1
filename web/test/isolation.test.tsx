import { render } from "@testing-library/preact";
import { expect, test } from "vitest";

import { status } from "../src/state";
import { Isolation } from "../src/ui/isolation";

const answer = { version: "1", you: { kind: "person", id: "key_1", name: "Mira" }, seq: 1 };

test("the page says how far agents are kept away, and nothing it does not know", () => {
  for (const [level, says] of [
    ["advisory", "Agents run as your own user: advisory"],
    ["separated", "Agents run as other users: separated"],
    ["constructor", ""],
    [undefined, ""],
  ]) {
    status.value = { ...answer, isolation: level } as typeof status.value;
    const { container, unmount } = render(<Isolation />);
    expect(container.textContent).toBe(says);
    unmount();
  }
  status.value = null;
});
