export const access = {
  isolation: {
    advisory: "Agents run as your own user: advisory",
    separated: "Agents run as other users: separated",
    signed: "Agents run as other users, and you sign what you allow: signed",
  },
  isolationSays: {
    advisory: "This holds against mistakes. An agent that aims at the gateway could read your keys.",
    separated: "Agents reach neither your keys nor the rules.",
    signed: "Not even a stolen session allows what needs your passkey.",
  },
  passkeys: {
    needs: {
      off: "Nothing needs your passkey.",
      risky: "Allowing what is risky needs your passkey.",
      all: "Allowing needs your passkey.",
    } as Record<string, string>,
    add: "Add a passkey",
    remove: "Remove",
    first: "You have none yet. The first is added within ten minutes of “gatelatch open”.",
    none: "Nothing was done: this needs your passkey, and you have none for this address. Add one in the menu behind your name.",
    nameless: "Nothing was done: this needs your passkey, and passkeys do not work at an address of numbers. Run “gatelatch open” and use the link that it opens.",
    cancelled: "Nothing was done: your passkey did not sign.",
    notMade: "Your browser made no passkey.",
  },
};
