import { backToList, step } from "../queue/move";
import { filter } from "../queue/store";
import { go, place } from "../state";
import { helpOpen } from "./help";

/** Keys press the buttons that are on the page, so that what holds for a button holds for its key. */
const presses: Record<string, string> = { a: "allow", d: "deny", D: "deny-say" };

export function watchKeys(): void {
  window.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    if (event.key === "Escape") escape();
    else if (!typing(event.target) && press(event.key, event.repeat)) event.preventDefault();
  });
}

function typing(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName));
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
      if (place.value.path === "/") step(key === "j" ? 1 : -1);
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

/** Closes the innermost thing that is open. */
function escape(): void {
  const focused = document.activeElement;
  if (helpOpen.value) helpOpen.value = false;
  else if (button("deny-back")) button("deny-back")!.click();
  else if (focused instanceof HTMLInputElement && focused.dataset["field"] === "filter") {
    filter.value = "";
    focused.blur();
  } else if (place.value.path === "/history" && place.value.open) go("/history");
  else if (place.value.path === "/" && place.value.open) backToList();
}
