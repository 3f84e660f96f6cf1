import type { ComponentChildren } from "preact";
import { ModeNotice } from "../modes/banner";
import { unusual } from "../modes/store";
import { Bell } from "../push/panel";
import { Silent } from "../push/silent";
import { waiting } from "../queue/store";
import { actorName, go, link, place, status, tell } from "../state";
import { Fill } from "../words/fill";
import { t } from "../words/words";
import { Icon, Latch } from "./icon";
import { resume, StopAll, trouble, unmute } from "./stop";
import { Foreign } from "./text";
import { Who } from "./who";

export function Bar() {
  return (
    <header class="bar">
      <a class="brand" href="/" onClick={to("/")}>
        <Latch />
        Gatelatch
      </a>
      <nav class="tabs" aria-label={t().ui.main}>
        <Tab path="/" name="inbox" icon="inbox">
          {t().ui.tabs.inbox}{" "}
          <span class="count-place">
            {waiting.value > 0 && (
              <span class="count" role="img" aria-label={t().ui.waiting(waiting.value)}>
                {waiting.value}
              </span>
            )}
          </span>
        </Tab>
        <Tab path="/rules" name="rules" icon="book">
          {t().ui.tabs.rules}
        </Tab>
        <Tab path="/history" name="history" icon="wait">
          {t().ui.tabs.history}
        </Tab>
        <Tab path="/insight" name="insight" icon="chart">
          {t().ui.tabs.insight}
        </Tab>
      </nav>
      <div class="bar-notice" role="status">
        <Notices />
      </div>
      <div class="bar-state">
        <Link />
        <StopAll />
        <Bell />
        <Who />
      </div>
    </header>
  );
}

function to(path: string) {
  return (event: MouseEvent) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    tell(null);
    if (place.value.path !== path || place.value.open) go(path);
  };
}

function Tab(props: { path: string; name: string; icon: string; children: ComponentChildren }) {
  const here = place.value.path === props.path;
  return (
    <a href={props.path} data-tab={props.name} aria-current={here ? "page" : undefined} onClick={to(props.path)}>
      <Icon name={props.icon} />
      {props.children}
    </a>
  );
}

/** The one place for what holds for the whole page: the gravest, and the modes of sessions; without those, what is only good to know. */
function Notices() {
  const notice = gravest();
  if (notice === null && unusual.value.length === 0) return <Silent />;
  return (
    <>
      {notice}
      {!status.value?.paused && <ModeNotice alone={notice === null} />}
    </>
  );
}

function gravest() {
  const paused = status.value?.paused;
  if (trouble.value) return <span class="notice is-text">{trouble.value}</span>;
  if (paused) {
    return (
      <span class="notice is-strong">
        <span class="grow">
          <Fill text={t().ui.stopped} gaps={{ deny: <b>{t().ui.everythingDenied}</b>, who: actorName(paused.by) }} />
        </span>
        <button type="button" class="btn" data-act="unpause" onClick={() => void resume()}>
          {t().ui.resume}
        </button>
      </span>
    );
  }
  if (link.value === "lost") return <span class="notice is-text">{t().ui.connectionLost}</span>;
  const muted = status.value?.muted?.[0];
  if (muted) {
    return (
      <span class="notice">
        <span class="grow">
          <Fill text={t().ui.muted} gaps={{ agent: <b><Foreign text={muted.name || muted.agent} /></b> }} />
        </span>
        <button type="button" class="btn" data-act="unmute" onClick={() => void unmute(muted.agent)}>
          {t().ui.unmute}
        </button>
      </span>
    );
  }
  if (status.value?.notice) {
    return (
      <span class="notice is-text" title={status.value.notice}>
        <span class="grow">
          <Foreign text={status.value.notice} />
        </span>
      </span>
    );
  }
  return null;
}

function Link() {
  return (
    <span class="state">
      <span class={link.value === "live" ? "dot" : "dot is-off"} />
      {t().ui.link[link.value]}
    </span>
  );
}
