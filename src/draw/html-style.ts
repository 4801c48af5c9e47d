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
main { overflow: auto; padding: 0.5rem; }
main svg { display: block; margin: auto; max-width: max(100%, 56rem); height: auto; }
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
  aside { border-left: 0; border-top: 1px solid var(--rule); min-height: 70vh; }
}
`;
