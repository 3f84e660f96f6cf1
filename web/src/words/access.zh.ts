import type { Words } from "./words";

export const access: Words["access"] = {
  isolation: {
    advisory: "代理与您同一用户运行：仅提醒",
    separated: "代理以其他用户运行：已隔离",
    signed: "每个决定都有签名",
  },
  isolationSays: {
    advisory: "可防失误。若代理针对网关本身，则能读到您的密钥。",
    separated: "代理接触不到您的密钥和规则。",
    signed: "即使会话被盗也无法作出决定。",
  },
};
