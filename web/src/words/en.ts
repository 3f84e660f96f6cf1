import { access } from "./access.en";
import { bound } from "./bound.en";
import { call } from "./call.en";
import { history } from "./history.en";
import { insight } from "./insight.en";
import { modes } from "./modes.en";
import { push } from "./push.en";
import { queue } from "./queue.en";
import { rules } from "./rules.en";
import { ui } from "./ui.en";

export const en = { access, bound, call, history, insight, modes, push, queue, rules, ui };
