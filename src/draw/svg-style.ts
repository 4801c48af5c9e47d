/** Colours and lines of the drawing, for light and dark backgrounds. */
export const SVG_STYLE = `
.raymond {
  --paper: #ffffff; --ink: #1f2328; --faint: #656d76; --line: #848d97;
  --prompt: #2f6bd8; --prompt-fill: #eef4ff;
  --script: #2c8a4b; --script-fill: #edf9f0;
  --workflow: #8250df; --workflow-fill: #f7f1ff;
  --ask: #b35900; --bad: #cf222e; --bad-fill: #fff1f0;
  --quiet-fill: #f6f8fa; --taken: #d9480f; --taken-fill: #fff4e6; --heat: #f76707;
  background: var(--paper);
  font-family: system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif;
}
@media (prefers-color-scheme: dark) {
  .raymond {
    --paper: #0d1117; --ink: #e6edf3; --faint: #9198a1; --line: #6e7681;
    --prompt: #6ea8fe; --prompt-fill: #14233d;
    --script: #56d37c; --script-fill: #10291a;
    --workflow: #bc8cff; --workflow-fill: #231a36;
    --ask: #f0a35b; --bad: #ff7b72; --bad-fill: #341719;
    --quiet-fill: #161b22; --taken: #ff922b; --taken-fill: #33210f; --heat: #e8590c;
  }
}
.raymond text { fill: var(--ink); }
.node .box { stroke-width: 1.5; }
.node .name { font-size: 14px; font-weight: 600; text-anchor: middle; }
.node .detail { font-size: 11px; fill: var(--faint); text-anchor: middle; }
.prompt .box { fill: var(--prompt-fill); stroke: var(--prompt); }
.script .box { fill: var(--script-fill); stroke: var(--script); }
.script .bar { fill: var(--script); }
.workflow .box { fill: var(--workflow-fill); stroke: var(--workflow); }
.workflow .inner { fill: none; stroke: var(--workflow); stroke-width: 1; }
.missing .box, .broken .box { fill: var(--bad-fill); stroke: var(--bad); stroke-dasharray: 5 3; }
.unknown .box { fill: var(--quiet-fill); stroke: var(--line); stroke-dasharray: 2 3; }
.reference .box { fill: var(--paper); stroke: var(--prompt); }
.reference .side { fill: none; stroke: var(--prompt); stroke-width: 1.5; }
.reference .name { font-weight: 500; }
.result rect { fill: var(--ink); }
.result path { stroke: var(--ink); stroke-width: 1.5; }
.raymond .result text { fill: var(--paper); font-size: 11px; font-weight: 600; text-anchor: middle; }
.result.taken rect { fill: var(--taken); }
.result.taken path { stroke: var(--taken); }
.entry { fill: var(--ink); }
path.edge { fill: none; stroke: var(--line); stroke-width: 1.5; }
text.edge { font-size: 11px; text-anchor: middle;
  stroke: var(--paper); stroke-width: 4px; stroke-linejoin: round; paint-order: stroke; }
.raymond text.edge { fill: var(--faint); }
path.edge.call { stroke: var(--prompt); stroke-width: 2.5; }
path.edge.return { stroke: var(--prompt); stroke-dasharray: 7 4; }
path.edge.worker { stroke: var(--script); stroke-width: 2.5; }
path.edge.next { stroke: var(--script); stroke-dasharray: 7 4; }
path.edge.join { stroke: var(--script); stroke-dasharray: 12 3; stroke-width: 2; }
path.edge.failed { stroke: var(--bad); stroke-dasharray: 12 3; }
path.edge.answer { stroke: var(--ask); stroke-dasharray: 2 4; stroke-linecap: round; stroke-width: 2; }
path.edge.timeout { stroke: var(--ask); stroke-dasharray: 8 3 2 3; }
path.edge.judge, path.edge.handover { stroke: var(--workflow); stroke-dasharray: 2 4; }
.head { fill: var(--line); }
.head.call, .head.return { fill: var(--prompt); }
.head.worker, .head.next, .head.join { fill: var(--script); }
.head.failed { fill: var(--bad); }
.head.answer, .head.timeout { fill: var(--ask); }
.head.judge, .head.handover { fill: var(--workflow); }
.head.taken { fill: var(--taken); }
.unused { opacity: 0.38; }
path.edge.used { stroke: var(--taken); stroke-width: 3; }
.raymond text.edge.used { fill: var(--taken); font-weight: 600; }
.node.used .box { stroke: var(--taken); stroke-width: 2.5; }
.node.used .detail { fill: var(--taken); font-weight: 600; }
.heat { fill: var(--heat); }
.node.heated .detail { fill: var(--ink); }
.legend text { font-size: 11px; fill: var(--faint); text-anchor: start; }
.raymond a { cursor: pointer; outline: none; }
.raymond a:hover .box, .raymond a:focus-visible .box { stroke-width: 3.5; }
`;
