import { CallCard } from "../call/card";
import { place } from "../state";
import { t } from "../words/words";
import { Empty } from "./empty";
import { List } from "./list";
import { backToList } from "./move";
import { current, waiting } from "./store";

export function Inbox() {
  const call = current.value;
  return (
    <main class={place.value.open && call ? "panes is-card" : "panes"}>
      <h1 class="hide">{t().queue.title(waiting.value)}</h1>
      <List />
      {!call ? <Empty /> : call.brief ? <div class="card" aria-busy="true" /> : <CallCard call={call} onBack={backToList} />}
    </main>
  );
}
