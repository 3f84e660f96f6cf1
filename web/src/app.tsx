import { loggedIn } from "./api";
import { Grants } from "./grants/grants";
import { History } from "./history/history";
import { Inbox } from "./queue/inbox";
import { place } from "./state";
import { Bar } from "./ui/bar";
import { Login, stage } from "./ui/login";

function View({ path }: { path: string }) {
  switch (path) {
    case "/history":
      return <History />;
    case "/remembered":
      return <Grants />;
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
    </div>
  );
}
