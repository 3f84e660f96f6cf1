// Shows a message when a call waits and the page is closed. It keeps nothing:
// the page is always the gateway's own.

const words = {
  en: {
    one: (tool, project) => [`Approval needed: ${project || "an agent"}`, `Tool “${tool}” waits for your decision.`],
    many: (n, project) => [`${n} calls wait`, `The newest is in ${project || "a session"}.`],
  },
  zh: {
    one: (tool, project) => [`需要批准：${project || "代理"}`, `工具“${tool}”正在等待你的决定。`],
    many: (n, project) => [`${n} 个调用正在等待`, `最新的在 ${project || "会话"} 中。`],
  },
};

self.addEventListener("install", () => self.skipWaiting());
self.addEventListener("activate", (event) => event.waitUntil(self.clients.claim()));

self.addEventListener("push", (event) => {
  let said = {};
  try {
    said = event.data.json();
  } catch {
    // A message without words still says that something waits.
  }
  event.waitUntil(tell(said));
});

async function tell({ call = "", tool = "", project = "", waiting = 1 }) {
  const open = await self.clients.matchAll({ type: "window" });
  if (open.some((c) => c.focused)) return; // who looks at the page sees the card
  const { one, many } = words[navigator.language.slice(0, 2)] ?? words.en;
  const [title, body] = waiting > 1 ? many(waiting, project) : one(tool, project);
  // One message at a time: a newer one takes the place of the older.
  await self.registration.showNotification(title, { body, tag: "calls", renotify: true, icon: "/icon-192.png", badge: "/icon-192.png", data: { call } });
}

self.addEventListener("notificationclick", (event) => {
  event.notification.close();
  event.waitUntil(show(event.notification.data?.call ?? ""));
});

async function show(call) {
  const url = /^[\w-]+$/.test(call) ? `/#${call}` : "/";
  const [open] = await self.clients.matchAll({ type: "window" });
  if (!open) return self.clients.openWindow(url);
  await open.navigate(url).catch(() => undefined);
  return open.focus();
}
