export const access = {
  isolation: {
    advisory: "Agents run as your own user: advisory",
    separated: "Agents run as other users: separated",
    signed: "Every decision is signed",
  },
  isolationSays: {
    advisory: "This holds against mistakes. An agent that aims at the gateway could read your keys.",
    separated: "Agents reach neither your keys nor the rules.",
    signed: "Not even a stolen session decides.",
  },
};
