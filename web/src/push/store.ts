// Reaching a person who does not look at the page: messages while it is
// closed, a sound while it is open.

import { signal } from "@preact/signals";
import { ApiError, ask } from "../api";
import type { PhoneLink } from "../api.gen";
import { t } from "../words/words";

export type PushState = "unsupported" | "insecure" | "denied" | "off" | "on";
export const pushState = signal<PushState>("off");
export const trouble = signal("");

const soundKey = "gatelatch.sound";
export const sound = signal(localStorage.getItem(soundKey) === "on");

export function setSound(on: boolean): void {
  sound.value = on;
  localStorage.setItem(soundKey, on ? "on" : "off");
  if (on) ring();
}

let audio: AudioContext | undefined;

/** Two soft notes. A browser that allows no sound yet stays silent. */
export function ring(): void {
  if (typeof AudioContext === "undefined") return;
  audio ??= new AudioContext();
  const now = audio.currentTime;
  [660, 880].forEach((pitch, i) => {
    const [tone, volume] = [audio!.createOscillator(), audio!.createGain()];
    tone.frequency.value = pitch;
    volume.gain.setValueAtTime(0.0001, now + i * 0.12);
    volume.gain.exponentialRampToValueAtTime(0.08, now + i * 0.12 + 0.02);
    volume.gain.exponentialRampToValueAtTime(0.0001, now + i * 0.12 + 0.25);
    tone.connect(volume).connect(audio!.destination);
    tone.start(now + i * 0.12);
    tone.stop(now + i * 0.12 + 0.3);
  });
}

interface Policies {
  createPolicy(name: string, rules: { createScriptURL: (url: string) => string }): { createScriptURL(url: string): string };
}

/** The page loads one script by address: its own worker. */
export async function startWorker(): Promise<void> {
  if (!("serviceWorker" in navigator)) return;
  const policies = (globalThis as { trustedTypes?: Policies }).trustedTypes;
  const make = policies?.createPolicy("gatelatch", { createScriptURL: () => "/worker.js" });
  await navigator.serviceWorker.register(make ? make.createScriptURL("") : "/worker.js").catch(() => undefined);
}

async function subscription(): Promise<PushSubscription | null> {
  const registration = await navigator.serviceWorker.ready;
  return registration.pushManager.getSubscription();
}

export async function lookAtPush(): Promise<void> {
  if (!isSecureContext) pushState.value = "insecure";
  else if (!("serviceWorker" in navigator) || !("PushManager" in window) || !("Notification" in window)) pushState.value = "unsupported";
  else if (Notification.permission === "denied") pushState.value = "denied";
  else pushState.value = (await subscription()) ? "on" : "off";
}

export async function turnOn(): Promise<void> {
  trouble.value = "";
  try {
    if ((await Notification.requestPermission()) !== "granted") return void (pushState.value = "denied");
    const { key } = await ask("PushKey", {});
    const registration = await navigator.serviceWorker.ready;
    const got = await registration.pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: key });
    const { endpoint, keys } = got.toJSON();
    await ask("Subscribe", { in: { endpoint: endpoint!, p256dh: keys!["p256dh"]!, auth: keys!["auth"]! } });
    pushState.value = "on";
  } catch (err) {
    trouble.value = t().push.failed(err instanceof Error ? err.message : String(err));
  }
}

export async function turnOff(): Promise<void> {
  trouble.value = "";
  try {
    const got = await subscription();
    if (got) {
      await ask("Unsubscribe", { in: { endpoint: got.endpoint } });
      await got.unsubscribe();
    }
    pushState.value = "off";
  } catch (err) {
    trouble.value = err instanceof Error ? err.message : String(err);
  }
}

/** A link for another device; null while there is none, false if no other device can get here. */
export const phone = signal<PhoneLink | null | false>(null);

export async function showPhone(): Promise<void> {
  try {
    phone.value = await ask("PhoneLink", { in: {} });
  } catch (err) {
    phone.value = err instanceof ApiError && err.status === 400 ? false : null;
  }
}
