import { cleanup } from "@testing-library/preact";
import { afterEach, beforeEach, vi } from "vitest";
import { loggedIn } from "../src/api";
import { resetGrants } from "../src/grants/store";
import { resetPast } from "../src/history/store";
import { resetModes } from "../src/modes/store";
import { resetQueue } from "../src/queue/store";
import { resetRules } from "../src/rules/store";
import { go, link, status, tell } from "../src/state";
import { helpOpen } from "../src/ui/help";
import { trouble } from "../src/ui/stop";

beforeEach(() => {
  vi.useFakeTimers();
  localStorage.setItem("gatelatch.page", "page-half");
  loggedIn.value = true;
});

afterEach(() => {
  cleanup();
  vi.useRealTimers();
  localStorage.clear();
  resetQueue();
  resetPast();
  resetGrants();
  resetModes();
  resetRules();
  helpOpen.value = false;
  tell(null);
  status.value = null;
  link.value = "connecting";
  trouble.value = "";
  go("/", "", "replace");
});
