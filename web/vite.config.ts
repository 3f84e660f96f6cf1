import { defineConfig } from "vitest/config";

// A gateway to develop against; the page is then at Vite's own address.
const gateway = "http://127.0.0.1:7474";

export default defineConfig({
  build: {
    // What understands light-dark(), so that colours stay as they are written.
    target: ["chrome123", "firefox124", "safari17.5"],
    assetsInlineLimit: 0,
    cssCodeSplit: false,
    modulePreload: { polyfill: false },
    // What is in assets has a name that changes with it: browsers keep it, compiled.
    assetsDir: "assets",
    rolldownOptions: {
      output: { entryFileNames: "assets/app-[hash].js", chunkFileNames: "assets/[name]-[hash].js", assetFileNames: "assets/app-[hash][extname]" },
    },
  },
  server: {
    proxy: { "/v1": { target: gateway, changeOrigin: true, headers: { origin: gateway } } },
  },
  test: {
    environment: "happy-dom",
    maxWorkers: "100%", // not one core less
    include: ["test/**/*.test.{ts,tsx}"],
    setupFiles: ["test/setup.ts"],
    restoreMocks: true,
    unstubGlobals: true,
  },
});
