/**
 * A page that shows a workflow: the drawing, and beside it the text of the chosen state. States are
 * links, and the page shows the text that the current link names, so it works without its script.
 * The script moves, zooms and searches. The page allows this one script, by its hash, and no other.
 */

import { END, edgesByEnd, type Graph, type GraphNode } from '../graph/graph.ts';
import { type Overlay, withTaken } from '../graph/overlay.ts';
import { counted } from '../model/counted.ts';
import { escapeText } from '../model/escape.ts';
import type { Workflow } from '../model/workflow.ts';
import { drawingOf } from './drawing.ts';
import { type Reading, THIS_RUN } from './heat.ts';
import { HTML_STYLE } from './html-style.ts';
import { legendOf } from './legend.ts';
import { PAGE_SCRIPT, PAGE_SCRIPT_HASH } from './page-script.ts';
import { anchorOf, type Page, stateSection } from './state-section.ts';
import { SVG_STYLE } from './svg-style.ts';
import { shortCost, shortCount } from './words.ts';

export function toHtml(
  workflow: Workflow,
  graph: Graph,
  overlay?: Overlay,
  reading: Reading = THIS_RUN,
): string {
  const shown = overlay ? withTaken(graph, overlay) : graph;
  const page: Page = {
    workflow,
    graph: shown,
    overlay,
    reading,
    nodes: new Map(shown.nodes.map((node, index) => [node.id, { node, index }])),
    edges: edgesByEnd(shown.edges),
  };
  const name = escapeText(workflow.name);
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${name}</title>
<style>${SVG_STYLE}${HTML_STYLE}${chosenStyle(shown)}</style>
</head>
<body>
<header><h1>${name}</h1><p>${escapeText(summary(page))}</p>
${TOOLS}</header>
<main tabindex="0" aria-label="${HELP}">
${drawingFor(page)}
</main>
<aside>
${shown.nodes.map((node) => stateSection(page, node)).join('\n')}
</aside>
<script>${PAGE_SCRIPT}</script>
</body>
</html>
`;
}

const POLICY = [
  "default-src 'none'",
  `script-src 'sha256-${PAGE_SCRIPT_HASH}'`,
  "style-src 'unsafe-inline'",
  "base-uri 'none'",
  "form-action 'none'",
  // A mistake in the script cannot turn text into an element.
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ');

const HELP = 'Diagram. The arrow keys move it, + and - zoom, 0 shows all of it, / searches.';

/** Visible only with the script. */
const TOOLS = `<div class="tools" role="search">
<input type="search" placeholder="Find a state" aria-label="Find a state" title="Press / to search, Enter for the next one" spellcheck="false">
<output aria-live="polite"></output>
<button type="button" value="in" aria-label="Zoom in" title="Zoom in (+)">+</button>
<button type="button" value="out" aria-label="Zoom out" title="Zoom out (-)">−</button>
<button type="button" value="fit" title="Show all of it (0)">Fit</button>
</div>`;

function summary({ workflow, overlay, reading }: Page): string {
  const uses = overlay ? [...overlay.nodes].flatMap(([id, use]) => (id === END ? [] : [use])) : [];
  const costUsd = uses.reduce((sum, use) => sum + use.costUsd, 0);
  const isPriced = uses.find((use) => use.isPriced)?.isPriced;
  const visits = uses.reduce((sum, use) => sum + use.visits, 0);
  return [
    workflow.about.description,
    counted(workflow.states.size, 'state'),
    overlay &&
      `${reading.of}: ${shortCount(visits)} ${visits === 1 ? 'visit' : 'visits'}, ${shortCost({ costUsd, isPriced }, 2)}`,
  ]
    .filter((part) => part !== undefined)
    .join(' · ');
}

function drawingFor(page: Page): string {
  const link = (node: GraphNode) => anchorOf(page, node);
  const { picture, width, height, content } = drawingOf(page.graph, page.overlay, {
    link,
    heat: page.reading.heat,
  });
  const legend = legendOf(picture, LEGEND_WIDTH, page.reading.heat);
  return `<svg class="raymond drawing" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="group" aria-label="diagram">
${content}
</svg>
<details class="legend"><summary>Legend</summary>
<svg class="raymond" width="${legend.width}" height="${legend.height}" viewBox="0 0 ${legend.width} ${legend.height}" role="img" aria-label="legend"><g class="legend">${legend.content}</g></svg>
</details>`;
}

const LEGEND_WIDTH = 330;

/** Marks the chosen state and its lines. */
function chosenStyle({ nodes }: Graph): string {
  return nodes
    .map((_, i) => {
      const chosen = `body:has(#state-${i}:target)`;
      return `${chosen} .is-${i} .box { stroke-width: 4; } ${chosen} :is(path.from-${i}, path.to-${i}) { stroke-width: 3.5; }`;
    })
    .join('\n');
}
