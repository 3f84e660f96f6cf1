import { access } from "./access.zh";
import { bound } from "./bound.zh";
import { call } from "./call.zh";
import { history } from "./history.zh";
import { insight } from "./insight.zh";
import { modes } from "./modes.zh";
import { push } from "./push.zh";
import { queue } from "./queue.zh";
import { rules } from "./rules.zh";
import { ui } from "./ui.zh";
import type { Words } from "./words";

export const zh: Words = { access, bound, call, history, insight, modes, push, queue, rules, ui };
