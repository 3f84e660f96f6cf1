"""The gateway as an agent sees it. Needs the standard library only."""

import http.client
import json
import pathlib
import random
import secrets
import socket
import time


class Refused(Exception):
    """A problem that the gateway answered with. Programs go by its code."""

    def __init__(self, problem):
        super().__init__(problem["message"])
        self.code = problem["code"]


class Gate:
    """A gateway, found by its state directory."""

    patience = 60  # seconds that it may be away, for a restart

    def __init__(self, state):
        self.state = pathlib.Path(state)

    def ask(self, path, body=None):
        """Asks until there is an answer: every request may be sent again."""
        gone, pause = time.monotonic() + self.patience, 0.05
        while True:
            began = time.monotonic()
            try:
                status, answer = self._once(path, body)
                if status < 400:
                    return status, answer
                if status != 503:
                    raise Refused(answer)
                error = Refused(answer)
            except (OSError, ValueError, http.client.HTTPException) as err:
                error = err
            if time.monotonic() - began > 5:  # it was there until now
                gone = time.monotonic() + self.patience
            if time.monotonic() > gone:
                raise error
            time.sleep(pause * random.uniform(0.5, 1))
            pause = min(2 * pause, 2)

    def _once(self, path, body):
        # Where it listens is looked up each time: it may have moved.
        where = json.loads((self.state / "run" / "gateway.json").read_text())
        key = (self.state / "agent.key").read_text().strip()
        connection = _Socket(where["agent_socket"])
        try:
            connection.request(
                "GET" if body is None else "POST",
                path,
                None if body is None else json.dumps(body),
                {"Authorization": f"Bearer {key}", "Content-Type": "application/json"},
            )
            response = connection.getresponse()
            return response.status, json.loads(response.read())
        finally:
            connection.close()

    def tools(self, agent, tools):
        """The tools that the agent may offer to its model."""
        return self.ask("/v1/tools", {"agent": agent, "tools": tools})[1]["tools"]

    def run(self, session, message, calls, tool):
        """Has the calls of one model message settled, runs what was allowed in
        order with tool(name, input) -> (ok, text), and returns the results of
        all. The same message again gives the same results: nothing runs twice."""
        proposal = {"session": session, "message": message, "calls": calls}
        path = "/v1/batches/" + self.ask("/v1/batches", proposal)[1]["id"]
        batch = self._hold(path)
        if batch is None:
            return self.ask(path + "/results")[1]["results"]
        fence = batch["opened"]["fence"]
        for call in batch["calls"]:
            if call["state"] != "allowed" or call.get("consumed"):
                continue  # its result is why not, or that nobody knows how it ended
            take = {"call": call["id"], "digest": call["digest"], "fence": fence, "nonce": secrets.token_hex(16)}
            try:
                call = self.ask(path + "/consume", take)[1]
            except Refused as problem:
                if problem.code in ("settled", "lapsed"):  # taken back meanwhile
                    continue
                raise
            ok, text = tool(call["tool"], call["input"])
            report = {"batch": batch["id"], "call": call["id"], "fence": fence, "ok": ok, "text": text[:20_000]}
            self.ask("/v1/reports", report)
        return self.ask(path + "/finish", {"fence": fence})[1]["results"]

    def _hold(self, path):
        """Waits until every call is settled. None: an earlier attempt ran them."""
        hold = {"holder": secrets.token_hex(16)}  # names this attempt, and stays secret
        while True:
            try:
                status, batch = self.ask(path + "/await", {"hold": hold})
                if status == 200:
                    return batch
            except Refused as problem:
                if problem.code == "finished":
                    return None
                if problem.code != "opened":
                    raise
                time.sleep(1)  # the attempt before this one: its lease will end


class _Socket(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("gatelatch.sock", timeout=90)  # an await is held for 50 s
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)
