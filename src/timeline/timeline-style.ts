/** Further rules for the picture of a timeline. The colours are those of diagrams. */
export const TIMELINE_STYLE = `
.raymond .heading { font-size: 15px; font-weight: 600; }
.raymond .agent { font-size: 12px; }
.raymond .agent .values { fill: var(--faint); }
.raymond .figure, .raymond .tick { font-size: 11px; fill: var(--faint); }
.raymond .figure { text-anchor: end; }
.raymond .tick { text-anchor: middle; }
.raymond .row { fill: var(--quiet-fill); }
.raymond .grid { stroke: var(--line); stroke-width: 0.5; opacity: 0.5; }
.raymond .cut { fill: var(--paper); }
.raymond .cut-edge { stroke: var(--line); stroke-width: 1; stroke-dasharray: 3 2; fill: none; }
.raymond .span { stroke-width: 1; }
.raymond .span.prompt { fill: var(--prompt-fill); stroke: var(--prompt); }
.raymond .span.script { fill: var(--script-fill); stroke: var(--script); }
.raymond .span.failed { fill: var(--bad-fill); stroke: var(--bad); }
.raymond .span.interrupted { stroke-dasharray: 3 2; }
.raymond .span.abandoned { opacity: 0.35; }
.raymond .wait { fill: none; stroke-width: 2; }
.raymond .wait.join { stroke: var(--script); stroke-dasharray: 6 3; }
.raymond .wait.ask { stroke: var(--ask); stroke-dasharray: 2 4; stroke-linecap: round; stroke-width: 3; }
.raymond .wait.retry { stroke: var(--bad); stroke-dasharray: 2 3; }
.raymond .wait.limit { stroke: var(--workflow); stroke-dasharray: 8 3 2 3; }
.raymond .state { font-size: 10px; }
.raymond .fork { stroke: var(--line); stroke-width: 1; fill: none; opacity: 0.7; }
.raymond .joined { stroke: var(--script); stroke-width: 1.5; stroke-dasharray: 6 3; fill: none; }
.raymond .end { font-size: 12px; font-weight: 600; }
.raymond .end.ended { fill: var(--script); }
.raymond .end.failed { fill: var(--bad); }
.raymond .end.stopped, .raymond .end.rewound { fill: var(--faint); }
.raymond .end.asking { fill: var(--ask); }
.raymond .end.live { fill: var(--prompt); }
`;
