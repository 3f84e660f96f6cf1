import { now } from "../state";
import { Icon } from "../ui/icon";
import { Left } from "../ui/time";
import { Fill } from "../words/fill";
import { t } from "../words/words";
import { lookAtPush, phone, pushState, setSound, showPhone, sound, trouble, turnOff, turnOn } from "./store";

/** What reaches a person who does not look, and the way to a phone. */
export function Bell() {
  const { push: w } = t();
  const on = pushState.value === "on";
  return (
    <>
      <button type="button" class="who bell" data-act="bell" popovertarget="bell" aria-label={on ? w.on : w.off} title={on ? w.on : w.off} onClick={() => void lookAtPush()}>
        <Icon name={on ? "bell" : "bell-off"} />
      </button>
      <div id="bell" class="menu bell-menu" popover="auto" onToggle={(e) => e.newState === "closed" && (phone.value = null)}>
        <h2>{w.title}</h2>
        <Messages />
        <label class="line">
          <input type="checkbox" data-field="sound" checked={sound.value} onChange={(e) => setSound(e.currentTarget.checked)} />
          <span class="grow">{w.sound}</span>
        </label>
        <h2>{w.phone}</h2>
        <Phone />
      </div>
    </>
  );
}

function Messages() {
  const { push: w } = t();
  const state = pushState.value;
  const cannot = state === "unsupported" || state === "insecure" || state === "denied";
  return (
    <>
      <label class="line">
        <input
          type="checkbox"
          data-field="push"
          checked={state === "on"}
          disabled={cannot}
          onChange={(e) => {
            const wanted = e.currentTarget.checked;
            e.currentTarget.checked = state === "on";
            void (wanted ? turnOn() : turnOff());
          }}
        />
        <span class="grow">{w.push}</span>
      </label>
      <p class="label" role="status">
        {trouble.value || (cannot ? w[state] : w.pushSays)}
      </p>
    </>
  );
}

function Phone() {
  const { push: w } = t();
  const link = phone.value;
  if (link === false) {
    return (
      <p class="label">
        <Fill text={w.phoneNone} gaps={{ flag: <code>--public-url</code> }} />
      </p>
    );
  }
  if (!link || Date.parse(link.expires) <= now.value) {
    return (
      <>
        {link && <p class="label">{w.phoneOver}</p>}
        <button type="button" class="btn is-small" data-act="phone" onClick={() => void showPhone()}>
          {w.phoneShow}
        </button>
      </>
    );
  }
  return (
    <>
      <Code rows={link.qr} />
      <p class="label">
        {w.phoneSays} <Fill text={w.left} gaps={{ time: <Left at={link.expires} /> }} />
      </p>
    </>
  );
}

/** Dark on light in both themes: cameras want it so. */
function Code({ rows }: { rows: readonly string[] }) {
  const size = rows.length;
  const dark = rows.flatMap((row, y) => [...row].map((c, x) => (c === "#" ? `M${x} ${y}h1v1h-1z` : "")));
  return (
    <svg class="qr" viewBox={`0 0 ${size} ${size}`} role="img" aria-label={t().push.qr} shape-rendering="crispEdges">
      <rect class="qr-light" width={size} height={size} />
      <path class="qr-dark" d={dark.join("")} />
    </svg>
  );
}
