import { stepPast } from "../history/move";
import { backToList, step } from "../queue/move";
import { filter } from "../queue/store";
import { go, place } from "../state";
import { helpOpen } from "./help";

/** Keys press the buttons that are on the page, so that what holds for a button holds for its key. */
const presses: Record<string, string> = { a: "allow", A: "remember", d: "deny", D: "deny-say", e: "edit" };

export function watchKeys(): void {
  window.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    if (event.key === "Escape") escape();
    else if (event.key === "Enter" && isFilter(event.target)) focusRow();
    else if (!typing(event.target) && press(event.key, event.repeat)) event.preventDefault();
  });
}

/** Radio buttons and boxes take no letters, so keys go on working from them. */
function typing(target: EventTarget | null): boolean {
  if (target instanceof HTMLInputElement) return target.type !== "radio" && target.type !== "checkbox";
  return target instanceof HTMLTextAreaElement || target instanceof HTMLSelectElement || (target instanceof HTMLElement && target.isContentEditable);
}

function isFilter(target: EventTarget | null): target is HTMLInputElement {
  return target instanceof HTMLInputElement && target.dataset["field"] === "filter";
}

/** The row of the card in view, so that the keys decide on what has the focus. */
function focusRow(): void {
  const row = document.querySelector<HTMLElement>(".row[aria-current]") ?? document.querySelector<HTMLElement>(".row");
  row?.focus();
}

function press(key: string, repeat: boolean): boolean {
  const act = presses[key];
  if (act !== undefined) {
    if (!repeat) button(act)?.click();
    return true;
  }
  switch (key) {
    case "j":
    case "k":
      (place.value.path === "/history" ? stepPast : step)(key === "j" ? 1 : -1);
      return true;
    case "m":
      document.querySelector(".row[aria-current]")?.closest(".session")?.querySelector<HTMLElement>('[data-act="mode"]')?.click();
      return true;
    case "?":
      helpOpen.value = !helpOpen.value;
      return true;
    case "/":
      document.querySelector<HTMLInputElement>("[data-field=filter]")?.focus();
      return true;
    default:
      return false;
  }
}

function button(act: string): HTMLElement | null {
  return document.querySelector<HTMLElement>(`article.card [data-act="${act}"]`);
}

const openPanel = '[data-act="mode-close"]';

/** Closes the innermost thing that is open. */
function escape(): void {
  const focused = document.activeElement;
  if (isFilter(focused)) {
    focused.value = "";
    focused.dispatchEvent(new Event("input", { bubbles: true }));
    focused.blur();
  } else if (document.querySelector(openPanel)) document.querySelector<HTMLElement>(openPanel)!.click();
  else if (helpOpen.value) helpOpen.value = false;
  else if (button("back")) button("back")!.click();
  else if (place.value.path === "/history" && place.value.open) go("/history");
  else if (place.value.path === "/" && filter.value) filter.value = "";
  else if (place.value.path === "/" && place.value.open) backToList();
}
