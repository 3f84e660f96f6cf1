"""A small agent. It asks the gateway which of its tools it may offer to its
model, and then before each call. The model is whoever writes to its standard
input, one message with tool calls a line:

    {"id": "m1", "calls": [{"id": "c1", "tool": "Read", "input": {"file_path": "go.mod"}}]}

It prints the tools that the model may call, then the result of each call.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import time

import gatelatch

NAME = "agent-python"


def tools(project):
    """What this agent can do. None of it asks or checks anything: that is done
    before. Names and fields are Claude Code's, which a gateway's rules know."""

    def read(file_path):
        return (project / file_path).read_text()

    def write(file_path, content):
        (project / file_path).write_text(content)
        return "written"

    def bash(command):
        done = subprocess.run(["bash", "-c", command], cwd=project, capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(done.stdout + done.stderr)
        return done.stdout + done.stderr

    def forget():
        return "forgotten"

    return {"Read": read, "Write": write, "Bash": bash, "Forget": forget}


def offer(all_tools):
    """The tools as a gateway and a model want to hear of them."""
    for name, tool in all_tools.items():
        fields = tool.__code__.co_varnames[: tool.__code__.co_argcount]
        schema = {"type": "object", "properties": {f: {"type": "string"} for f in fields}, "required": list(fields)}
        yield {"name": name, "schema": schema, "owner_only": name == "Forget"}


def say(**line):
    print(json.dumps(line), flush=True)


def main():
    flags = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    flags.add_argument("--state", default=pathlib.Path.home() / ".local/state/gatelatch")
    flags.add_argument("--project", type=pathlib.Path, default=pathlib.Path.cwd())
    flags.add_argument("--session", default=f"{NAME}-{time.time_ns()}", help="name of the conversation")
    args = flags.parse_args()

    gate, all_tools = gatelatch.Gate(args.state), tools(args.project)
    may = {}
    for tool in gate.tools(NAME, list(offer(all_tools))):
        may[tool["name"]] = all_tools[tool["name"]]
        say(tool=tool["name"], schema=tool["schema"])

    def run(name, fields):
        try:
            return True, may[name](**fields)
        except Exception as err:  # a tool that fails has that as its result
            return False, str(err)

    session = {"id": args.session, "name": NAME, "project": str(args.project)}
    for line in sys.stdin:
        message = json.loads(line)
        known = [c for c in message["calls"] if c["tool"] in may]
        calls = [{"ref": c["id"], "tool": c["tool"], "input": c["input"], "dir": str(args.project)} for c in known]
        results = {r["ref"]: r for r in gate.run(session, message["id"], calls, run)} if calls else {}
        for call in message["calls"]:
            result = results.get(call["id"], {"text": "There is no such tool."})
            say(call=call["id"], ok=result.get("outcome") == "done", text=result.get("text", ""))
        if any(r.get("interrupt") for r in results.values()):
            return  # a person wants the turn to end here


if __name__ == "__main__":
    main()
