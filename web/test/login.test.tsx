import { render } from "@testing-library/preact";
import { beforeEach, expect, it } from "vitest";
import { ask, loggedIn, watchLogin } from "../src/api";
import { App } from "../src/app";
import { calls } from "../src/queue/store";
import { status } from "../src/state";
import { enter, stage } from "../src/ui/login";
import { aCall } from "./calls";
import { Gateway, refusal } from "./gateway";
import { find, pass, press, show } from "./page";

let gateway: Gateway;

beforeEach(() => {
  gateway = new Gateway();
  localStorage.clear();
  loggedIn.value = false;
  stage.value = "none";
});

async function open(url: string) {
  history.replaceState(null, "", url);
  render(<App />);
  const entered = enter();
  expect(location.hash).toBe(""); // before anything is sent
  await entered;
  await pass();
}

it("trades the code of a link, keeps the page's half, and goes to the inbox", async () => {
  gateway.answers["POST /v1/login"] = () => ({ body: { page: "fresh-half", name: "Mira Okafor" } });
  await open("/login#c=CODE");
  expect(gateway.to("POST /v1/login").map((a) => a.body)).toEqual([{ code: "CODE" }]);
  expect(localStorage.getItem("gatelatch.page")).toBe("fresh-half");
  expect(location.pathname + location.hash).toBe("/");
  expect(loggedIn.value).toBe(true);
});

it("says that a link was used, and what to do", async () => {
  gateway.answers["POST /v1/login"] = () => refusal(403, "forbidden");
  await open("/login#c=OLD");
  expect(document.body.textContent).toContain("This link was used already, or is too old.");
  expect(find(".cmd").textContent).toContain("gatelatch open");
  expect(document.body.textContent).toContain("with the same --state");
  expect(loggedIn.value).toBe(false);
});

it("keeps the code while the gateway does not answer", async () => {
  gateway.answers["POST /v1/login"] = () => "no answer";
  await open("/login#c=CODE");
  expect(document.body.textContent).toContain("The gateway did not answer.");
  gateway.answers["POST /v1/login"] = () => ({ body: { page: "fresh-half", name: "Mira Okafor" } });
  find("button").click();
  await pass();
  expect(loggedIn.value).toBe(true);
});

it("sends nobody without a session anywhere but to the terminal", async () => {
  await open("/");
  expect(document.body.textContent).toContain("You are not logged in here.");
  expect(gateway.asked).toEqual([]);
});

it("proves the page's half with every request, and shows the login screen when it is refused", async () => {
  localStorage.setItem("gatelatch.page", "old-half");
  loggedIn.value = true;
  await ask("Status", {});
  expect(gateway.asked[0]?.page).toBe("old-half");
  gateway.answers["GET /v1/status"] = () => refusal(401, "unauthenticated");
  await expect(ask("Status", {})).rejects.toMatchObject({ status: 401 });
  expect(loggedIn.value).toBe(false);
});

it("goes on when another tab has logged in, also in the middle of a request", async () => {
  watchLogin();
  localStorage.setItem("gatelatch.page", "new-half");
  window.dispatchEvent(new StorageEvent("storage", { key: "gatelatch.page", newValue: "new-half" }));
  expect(loggedIn.value).toBe(true);

  const status = gateway.answers["GET /v1/status"]!;
  gateway.answers["GET /v1/status"] = (q) => {
    if (q.page === "newer-half") return status(q);
    localStorage.setItem("gatelatch.page", "newer-half");
    return refusal(401, "unauthenticated");
  };
  await expect(ask("Status", {})).resolves.toMatchObject({ version: "dev" });
  expect(loggedIn.value).toBe(true);
});

async function leave() {
  localStorage.setItem("gatelatch.page", "page-half");
  loggedIn.value = true;
  status.value = { version: "dev", you: { kind: "person", name: "Mira Okafor" }, seq: 1 };
  await show(aCall());
  await press("logout");
}

it("logs out, and forgets its half and the calls", async () => {
  gateway.answers["POST /v1/logout"] = () => ({});
  await leave();
  expect(gateway.to("POST /v1/logout").map((a) => a.body)).toEqual([{}]);
  expect(localStorage.getItem("gatelatch.page")).toBeNull();
  expect(calls.value.size).toBe(0);
  expect(document.body.textContent).toContain("You are not logged in here.");
});

it("is logged out also when the session had ended before", async () => {
  gateway.answers["POST /v1/logout"] = () => refusal(401, "unauthenticated");
  await leave();
  expect(localStorage.getItem("gatelatch.page")).toBeNull();
});

it("stays logged in when the gateway does not answer, and says so", async () => {
  gateway.answers["POST /v1/logout"] = () => "no answer";
  await leave();
  expect(loggedIn.value).toBe(true);
  expect(find(".bar-notice").textContent).toBe("Not logged out: the gateway does not answer");
});

it("leaves with another tab that has logged out", () => {
  watchLogin();
  loggedIn.value = true;
  window.dispatchEvent(new StorageEvent("storage", { key: "gatelatch.page", newValue: null }));
  expect(loggedIn.value).toBe(false);
});
