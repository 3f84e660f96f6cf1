import { loggedIn } from "./api";
import { History } from "./history/history";
import { Insight } from "./insight/insight";
import { Announce } from "./push/announce";
import { Inbox } from "./queue/inbox";
import { Rules } from "./rules/rules";
import { place } from "./state";
import { Bar } from "./ui/bar";
import { Login, stage } from "./ui/login";

function View({ path }: { path: string }) {
  switch (path) {
    case "/history":
      return <History />;
    case "/rules":
      return <Rules />;
    case "/insight":
      return <Insight />;
    default:
      return <Inbox />;
  }
}

export function App() {
  // A link that was refused does not lock out a browser that is logged in already.
  if (!loggedIn.value || stage.value === "trying" || stage.value === "unreachable") return <Login />;
  return (
    <div class="app">
      <Bar />
      <View path={place.value.path} />
      <Announce />
    </div>
  );
}
