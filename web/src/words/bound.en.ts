export const bound = {
  title: "What an allow is for",
  run: "An allow is for {file} as it is now. If it changes before it runs, the agent has to ask again.",
  edited: "An allow is for a change of {file} as it is now. If it changes before, the agent has to ask again.",
  missing: "An allow is for now, while there is no {file}. If it appears, the agent has to ask again.",
  server: "An allow is for the server {name} as it is set up now: {launch}",
  unbound: "Content not bound",
  why: {
    code: "It runs code that is not in one file that it names. What that says may change before it runs.",
    file: "A file that it depends on can’t be read or is too large. It may change before the call runs.",
    machine: "The agent runs on another machine. Its files may change before the call runs.",
  } as Record<string, string> & { file: string },
  parked: "Nobody waits for the answer at present. It is kept for when the agent asks again.",
  left: "Nobody waits for the answer since {time}: the agent was stopped, or was answered elsewhere. If it asks again, it gets this answer.",
};
