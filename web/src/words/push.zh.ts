import type { Words } from "./words";

export const push: Words["push"] = {
  title: "通知",
  on: "通知已开启",
  off: "通知已关闭",
  push: "有新调用时通知此浏览器，关闭页面后也通知",
  pushSays: "消息只包含工具和项目名称，不含代理写的内容。",
  sound: "页面打开时，新调用发出短促提示音",
  unsupported: "此浏览器在此地址无法接收消息。",
  insecure: "消息需要 https 地址或本机地址。",
  denied: "浏览器设置禁止此页面发送通知。",
  failed: (why) => `未能开启：${why}`,
  silent: "调用只在此页面显示。",
  silentFix: "更改",
  dismiss: "不再显示",
  phone: "在手机上登录",
  phoneSays: "用手机相机对准它。一分钟内有效，只能使用一次。",
  phoneShow: "显示二维码",
  phoneOver: "二维码已失效。",
  phoneNone: "手机还无法访问此网关。请用 {flag} 加上你的隧道或代理地址启动它。",
  qr: "含登录链接的二维码",
  left: "还剩 {time}",
};
