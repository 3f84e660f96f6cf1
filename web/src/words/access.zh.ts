import type { Words } from "./words";

export const access: Words["access"] = {
  isolation: {
    advisory: "代理与您同一用户运行：仅提醒",
    separated: "代理以其他用户运行：已隔离",
    signed: "代理以其他用户运行，您的允许须签名：已签名",
  },
  isolationSays: {
    advisory: "可防失误。若代理针对网关本身，则能读到您的密钥。",
    separated: "代理接触不到您的密钥和规则。",
    signed: "即使会话被盗，也无法允许需要通行密钥的操作。",
  },
  passkeys: {
    needs: {
      off: "目前无需通行密钥。",
      risky: "允许高风险操作需要您的通行密钥。",
      all: "允许操作需要您的通行密钥。",
    },
    add: "添加通行密钥",
    remove: "移除",
    first: "您还没有通行密钥。请在运行 gatelatch open 后十分钟内添加第一个。",
    none: "未执行：此操作需要您的通行密钥，而您在此地址没有。请在姓名后的菜单中添加。",
    nameless: "未执行：此操作需要您的通行密钥，但通行密钥不能用于数字地址。请运行 gatelatch open 并使用它打开的链接。",
    cancelled: "未执行：您的通行密钥没有签名。",
    notMade: "浏览器没有创建通行密钥。",
  },
};
