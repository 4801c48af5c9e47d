const PATHS = {
  search: 'M7 12.5a5.5 5.5 0 1 0 0-11 5.5 5.5 0 0 0 0 11Zm4-1.5 3.5 3.5',
  plus: 'M8 3v10M3 8h10',
  minus: 'M3 8h10',
  close: 'm4 4 8 8m0-8-8 8',
  back: 'M10 3 5 8l5 5',
  forward: 'm6 3 5 5-5 5',
  fit: 'M2 6V2h4m4 0h4v4m0 4v4h-4M6 14H2v-4',
  stop: 'M4 4h8v8H4z',
  play: 'M5 3.5v9l7-4.5z',
  rewind: 'M8 3.5 3 8l5 4.5zm6 0L9 8l5 4.5z',
  warning: 'M8 2 1.5 13.5h13zM8 6.5v3.2m0 1.8v.1',
  plug: 'M6 2v3m4-3v3M4 5h8v3a4 4 0 0 1-8 0zm4 7v2.5',
  sun: 'M8 11a3 3 0 1 0 0-6 3 3 0 0 0 0 6Zm0-9.5v1m0 11v1M1.5 8h1m11 0h1M3.4 3.4l.7.7m7.8 7.8.7.7m0-9.2-.7.7m-7.8 7.8-.7.7',
  moon: 'M13.5 9.5A5.8 5.8 0 0 1 6.5 2.5a5.8 5.8 0 1 0 7 7Z',
  system: 'M2 3h12v8H2zm4 10.5h4M8 11v2.5',
  help: 'M8 14.5a6.5 6.5 0 1 0 0-13 6.5 6.5 0 0 0 0 13ZM6 6.2a2 2 0 1 1 2.7 1.9c-.5.2-.7.5-.7 1v.3m0 1.9v.1',
  chat: 'M2 3h12v8H7l-3.5 3v-3H2z',
  shield: 'M8 1.5 2.5 3.5V8c0 3 2.3 5.4 5.5 6.5 3.2-1.1 5.5-3.5 5.5-6.5V3.5z',
  graph: 'M6 2h4v3H6zM2 11h4v3H2zm8 0h4v3h-4zM8 5v3m0 0H4v3m4-3h4v3',
  inbox: 'M2 9.5 4 3h8l2 6.5V13H2zm0 0h4l.8 1.5h2.4l.8-1.5h4',
  branch:
    'M4.5 5.5v5m0-5a1.8 1.8 0 1 0 0-3.6 1.8 1.8 0 0 0 0 3.6Zm0 5a1.8 1.8 0 1 0 0 3.6 1.8 1.8 0 0 0 0-3.6Zm7-5a1.8 1.8 0 1 0 0-3.6 1.8 1.8 0 0 0 0 3.6Zm0 0c0 3-3.5 2.5-6 4',
  chart: 'M2 14h12M4 11.5v-4m4 4V3m4 8.5V6',
  clock: 'M8 14.5a6.5 6.5 0 1 0 0-13 6.5 6.5 0 0 0 0 13ZM8 4.5V8l2.5 1.5',
  down: 'm4 6 4 4 4-4',
  across: 'M2 8h11m-3.5-3.5L13 8l-3.5 3.5',
  downward: 'M8 2v11m-3.5-3.5L8 13l3.5-3.5',
  folder: 'M2 4h4.5l1.5 2h6v7H2z',
  bin: 'M3 4.5h10M6 4.5v-2h4v2m-5.5 0 .7 9h5.6l.7-9',
  tick: 'm3 8.5 3.2 3.2L13 5',
  copy: 'M5.5 5.5h8v8h-8zM10.5 5.5v-3h-8v8h3',
  bell: 'M4 11V7a4 4 0 0 1 8 0v4l1.5 1.5h-11zm2.6 2a1.5 1.5 0 0 0 2.8 0',
  sort: 'M4.5 3v10m0 0L2 10.5M4.5 13 7 10.5M11.5 13V3m0 0L9 5.5M11.5 3 14 5.5',
  file: 'M4 1.5h5l3 3v10H4zm5 0v3h3',
  script: 'm3 4 4 4-4 4m5.5 0H13',
  tool: 'M9.5 4.5a3 3 0 0 1 4-2.2L11.4 4.4l.2 1.6 1.6.2 2-2a3 3 0 0 1-4 3.9l-6 6a1.5 1.5 0 0 1-2.2-2.2l6-6a3 3 0 0 1 .5-1.4Z',
} as const;

export type IconName = keyof typeof PATHS;

/** Beside a text, or in a control that has a name: so it is never read out. */
export function Icon({ name }: { readonly name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 16 16" aria-hidden="true">
      <path d={PATHS[name]} />
    </svg>
  );
}
