import { modes } from "./modes.en";
import { ui } from "./ui.en";

export const en = { modes, ui };
