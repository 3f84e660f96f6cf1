import "./ahead";

import "./ui/tokens.css";
import "./ui/base.css";
import "./ui/seg.css";
import "./queue/queue.css";
import "./call/card.css";
import "./call/blocks.css";
import "./call/step.css";
import "./call/strip.css";
import "./history/history.css";
import "./rules/rules.css";
import "./insight/insight.css";
import "./push/push.css";
import "./modes/modes.css";
import "./ui/narrow.css";

import { effect } from "@preact/signals";
import { render } from "preact";
import { loggedIn, watchLogin } from "./api";
import { App } from "./app";
import { watchArrivals, watchIcon } from "./push/announce";
import { lookAtPush, startWorker } from "./push/store";
import { watchLook } from "./push/silent";
import { watchOpen, watchPause } from "./queue/move";
import { waiting } from "./queue/store";
import { go, link, now, place, status, watchPlace } from "./state";
import { follow, painted } from "./sync";
import { watchKeys } from "./ui/keys";
import { enter, stage } from "./ui/login";
import { startWords, t } from "./words/words";

watchLogin();
watchPlace();
watchOpen();
watchPause();
watchKeys();
watchArrivals();
watchLook();
setInterval(() => (now.value = Date.now()), 1000);

effect(() => {
  document.documentElement.dataset["live"] = link.value === "live" && loggedIn.value ? "on" : "off";
});
effect(() => {
  const { inbox, history, rules, insight, login } = t().ui.tabs;
  const names: Record<string, string> = { "/history": history, "/rules": rules, "/insight": insight };
  const name = loggedIn.value ? (names[place.value.path] ?? inbox) : login;
  const count = loggedIn.value && waiting.value > 0 ? `(${waiting.value}) ` : "";
  document.title = `${count}${name} · Gatelatch`;
});

effect(() => {
  if (link.value === "live") stage.value = "none";
});
const start = () =>
  effect(() => {
    if (!loggedIn.value) return;
    if (place.peek().path === "/login") go("/", "", "replace");
    return follow();
  });

/** Waits for the first list, but not for long: drawing once takes less time than drawing twice. */
function atFirst(): Promise<void> {
  return new Promise((done) => {
    setTimeout(done, 100);
    effect(() => {
      if (status.value || !loggedIn.value) done();
    });
  });
}

const entering = enter();
if (!entering) start();
await Promise.all([startWords(), entering ?? atFirst()]);
render(<App />, document.getElementById("app")!);
if (entering) start();

// Last: the first card does not wait for it.
void painted().then(() => {
  watchIcon();
  return startWorker().then(lookAtPush);
});
