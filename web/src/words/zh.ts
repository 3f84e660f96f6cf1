import { modes } from "./modes.zh";
import { ui } from "./ui.zh";
import type { Words } from "./words";

export const zh: Words = { modes, ui };
