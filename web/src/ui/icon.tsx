const paths: Record<string, string> = {
  term: "M3 2.5h10a1.5 1.5 0 0 1 1.5 1.5v8a1.5 1.5 0 0 1-1.5 1.5H3A1.5 1.5 0 0 1 1.5 12V4A1.5 1.5 0 0 1 3 2.5zM4.5 6l2 2-2 2M8.5 10.2h3",
  file: "M3.5 1.8h5.6l3.4 3.4v9H3.5zM9 1.8v3.5h3.5M6 8.2h4M6 10.8h4",
  plug: "M5.7 1.8v3M10.3 1.8v3M3.6 4.8h8.8v2.7a4.4 4.4 0 0 1-8.8 0zM8 11.9v2.4",
  ask: "M2 3h12v8.5H8.2L5 14v-2.5H2zM6.5 6a1.6 1.6 0 1 1 2.3 1.4c-.5.3-.8.5-.8 1M8 9.9v.1",
  plan: "M2.5 4h1.2M6.5 4h7M2.5 8h1.2M6.5 8h7M2.5 12h1.2M6.5 12h7",
  eye: "M1.3 8S3.8 3.7 8 3.7 14.7 8 14.7 8 12.2 12.3 8 12.3 1.3 8 1.3 8zM9.9 8A1.9 1.9 0 1 1 6.1 8a1.9 1.9 0 1 1 3.8 0z",
  yes: "M3 8.5l3.3 3.3L13 4.8",
  no: "M4 4l8 8M12 4l-8 8",
  wait: "M14.2 8A6.2 6.2 0 1 1 1.8 8a6.2 6.2 0 1 1 12.4 0zM8 4.6V8l2.3 1.7",
  undo: "M5.5 3L2.5 6l3 3M2.5 6h6.8a3.7 3.7 0 0 1 0 7.4H6",
  find: "M11.5 7A4.5 4.5 0 1 1 2.5 7a4.5 4.5 0 1 1 9 0zM10.4 10.4L14 14",
  book: "M3 2.5h8.5a1.5 1.5 0 0 1 1.5 1.5v9.5H4.5A1.5 1.5 0 0 1 3 12zM3 12a1.5 1.5 0 0 1 1.5-1.5H13",
  pen: "M2.6 13.4l.8-3.2 7.4-7.4 2.4 2.4-7.4 7.4zM9.2 4.4l2.4 2.4",
  back: "M10 3L5 8l5 5",
  down: "M4 6.2l4 4 4-4",
  bell: "M3 11.5h10l-1.2-1.8V7a3.8 3.8 0 0 0-7.6 0v2.7zM6.6 13.7h2.8",
  "bell-off": "M3 11.5h10l-1.2-1.8V7a3.8 3.8 0 0 0-7.6 0v2.7zM6.6 13.7h2.8M2.5 2.5l11 11",
  chart: "M2.5 13.5h11M4.5 11V7.5M8 11V3.5M11.5 11V6",
  chain: "M6.5 9.5l3-3M7.5 4.7l1.7-1.7a2.7 2.7 0 0 1 3.8 3.8l-1.7 1.7M8.5 11.3L6.8 13A2.7 2.7 0 0 1 3 9.2l1.7-1.7",
  inbox: "M2 9.5L4 3h8l2 6.5v3.7H2zM2 9.5h3.5L6.5 11h3l1-1.5H14",
};

export function Icon({ name }: { name: string }) {
  return (
    <svg class="i" viewBox="0 0 16 16" aria-hidden="true">
      <path d={paths[name] ?? paths["plug"]!} />
    </svg>
  );
}

export function Latch() {
  return (
    <svg class="i" viewBox="0 0 20 20" aria-hidden="true">
      <path d="M5 2.5v15M15 2.5v15M8 7.6V4.6" stroke-width="2" />
      <rect x="1.5" y="7.6" width="12" height="4.8" rx="1" fill="currentColor" stroke="none" />
    </svg>
  );
}
