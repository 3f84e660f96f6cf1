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
import { go, link, now, place, watchPlace } from "./state";
import { follow } from "./sync";
import { watchKeys } from "./ui/keys";
import { enter, stage } from "./ui/login";
import { startWords, t } from "./words/words";

watchLogin();
watchPlace();
watchOpen();
watchPause();
watchKeys();
watchArrivals();
watchIcon();
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

// What to show is asked for before anything is drawn: both take their time.
const entering = enter();
if (!entering) start();
await startWords();
render(<App />, document.getElementById("app")!);
if (entering) {
  await entering;
  start();
}

// Last: it is for when the page is closed.
void startWorker().then(lookAtPush);
