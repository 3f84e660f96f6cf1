import { loggedIn } from "./api";
import { History } from "./history/history";
import { Inbox } from "./queue/inbox";
import { place } from "./state";
import { Bar } from "./ui/bar";
import { Login, stage } from "./ui/login";

export function App() {
  // A link that was refused does not lock out a browser that is logged in already.
  if (!loggedIn.value || stage.value === "trying" || stage.value === "unreachable") return <Login />;
  return (
    <div class="app">
      <Bar />
      {place.value.path === "/history" ? <History /> : <Inbox />}
    </div>
  );
}
