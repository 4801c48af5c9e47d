/**
 * The page around the drawing: two panes that scroll separately. On a narrow screen one is below
 * the other.
 */
export const HTML_STYLE = `
:root { color-scheme: light dark;
  --paper: #ffffff; --ink: #1f2328; --faint: #656d76; --rule: #d8dee4; --pane: #f6f8fa;
  --accent: #2f6bd8; --tag: #8250df; --tag-fill: #f3ebff; --name: #b35900; --name-fill: #fff3e0; }
@media (prefers-color-scheme: dark) { :root {
  --paper: #0d1117; --ink: #e6edf3; --faint: #9198a1; --rule: #30363d; --pane: #151b23;
  --accent: #6ea8fe; --tag: #d2a8ff; --tag-fill: #2b2140; --name: #f0a35b; --name-fill: #33230f; } }
* { box-sizing: border-box; }
body { margin: 0; height: 100vh; display: grid; grid-template: auto 1fr / minmax(0, 1fr) minmax(22rem, 34%);
  background: var(--paper); color: var(--ink);
  font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif; }
header { grid-column: 1 / -1; padding: 0.7rem 1.4rem; border-bottom: 1px solid var(--rule); display: flex;
  gap: 0.3rem 1rem; align-items: baseline; flex-wrap: wrap; }
h1 { margin: 0; font-size: 1.15rem; }
header p { margin: 0; color: var(--faint); }
header p { flex: 1 1 auto; }
main { overflow: auto; padding: 0.5rem; position: relative; min-width: 0; min-height: 0; }
main:focus-visible { outline: 2px solid var(--accent); outline-offset: -2px; }
main .drawing { display: block; margin: auto; }
main .found .box { stroke: var(--accent); stroke-width: 5; }
details.legend { margin: 0.5rem; font-size: 0.85rem; color: var(--faint); }
details.legend svg { max-width: 100%; height: auto; }
.tools { display: none; gap: 0.4rem; align-items: center; flex: 0 1 auto; min-width: 0; }
.tools input { font: inherit; width: 13rem; min-width: 6rem; flex: 1 1 auto; }
.tools output { color: var(--faint); min-width: 3.5rem; font-size: 0.85rem; }
.tools button { font: inherit; min-width: 2.2rem; }
.tools :is(input, button) { color: var(--ink); background: var(--pane); border: 1px solid var(--rule);
  border-radius: 6px; padding: 0.2rem 0.6rem; }
.tools :is(input, button):focus-visible { outline: 2px solid var(--accent); outline-offset: 1px; }
.live .tools { display: flex; }
.live main { overflow: hidden; padding: 0; touch-action: none; user-select: none; cursor: grab; }
.live main:active { cursor: grabbing; }
.live main .drawing { width: 100%; height: 100%; position: absolute; inset: 0; }
.live details.legend { position: absolute; left: 0.6rem; bottom: 0.6rem; margin: 0; padding: 0.3rem 0.6rem;
  max-width: calc(100% - 1.2rem); max-height: calc(100% - 1.2rem); overflow: auto;
  background: var(--paper); border: 1px solid var(--rule); border-radius: 8px; }
aside { overflow: auto; border-left: 1px solid var(--rule); background: var(--pane); padding: 1.1rem 1.4rem 3rem; }
section { display: none; }
section:target, aside:not(:has(section:target)) section.first { display: block; }
h2 { margin: 0; font-size: 1.2rem; overflow-wrap: anywhere; }
h3 { margin: 1.3rem 0 0.3rem; font-size: 0.78rem; letter-spacing: 0.05em; text-transform: uppercase; color: var(--faint); }
.kind { margin: 0; color: var(--faint); }
ul { margin: 0; padding: 0; list-style: none; }
li { padding: 0.1rem 0; overflow-wrap: anywhere; }
a { color: var(--accent); text-decoration: none; }
a:hover { text-decoration: underline; }
aside a:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; border-radius: 3px; }
.how { color: var(--faint); }
pre { margin: 0; padding: 0.8rem 1rem; background: var(--paper); border: 1px solid var(--rule); border-radius: 8px;
  white-space: pre-wrap; overflow-wrap: anywhere; }
pre, code { font: 13px/1.55 ui-monospace, SFMono-Regular, Menlo, Consolas, "Liberation Mono", monospace; }
.tag { color: var(--tag); background: var(--tag-fill); border-radius: 3px; }
.value { color: var(--name); background: var(--name-fill); border-radius: 3px; }
dl { margin: 0; display: grid; grid-template-columns: auto 1fr; gap: 0 1rem; }
dt { color: var(--faint); } dd { margin: 0; }
@media (max-width: 860px) {
  body { height: auto; display: block; }
  header { padding: 0.5rem 0.8rem; }
  aside { border-left: 0; border-top: 1px solid var(--rule); min-height: 70vh; padding: 0.9rem 0.8rem 2rem; }
  .live body { height: 100vh; height: 100dvh; display: grid; grid-template: auto minmax(0, 3fr) minmax(0, 2fr) / minmax(0, 1fr); }
  .live aside { min-height: 0; }
  .tools { flex: 1 1 100%; }
}
@media print { .tools, details.legend { display: none; } }
`;
