import type { Graph } from '../graph/graph.ts';
import type { Overlay } from '../graph/overlay.ts';
import { counted } from '../model/counted.ts';
import { escapeText } from '../model/escape.ts';
import { drawingOf } from './drawing.ts';
import { type Reading, THIS_RUN } from './heat.ts';
import { legendOf } from './legend.ts';
import { rounded } from './lines.ts';
import { SVG_STYLE } from './svg-style.ts';

/** A picture without other files: it uses the system's fonts, and its colours follow light and dark. */
export function toSvg(graph: Graph, overlay?: Overlay, { heat, of }: Reading = THIS_RUN): string {
  const drawing = drawingOf(graph, overlay, { heat });
  const legend = legendOf(drawing.picture, drawing.width, heat);
  const width = Math.max(drawing.width, legend.width);
  const height = drawing.height + legend.height;
  return [
    `<svg class="raymond" xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img">`,
    `<title>${escapeText(graph.name)}</title>`,
    `<desc>${escapeText(describe(graph) + (overlay ? ` With the figures of ${of}.` : ''))}</desc>`,
    `<style>${SVG_STYLE}</style>`,
    `<rect width="${width}" height="${height}" fill="var(--paper)"/>`,
    `<g transform="translate(${rounded((width - drawing.width) / 2)} 0)">`,
    drawing.content,
    '</g>',
    `<g class="legend" transform="translate(0 ${drawing.height})">${legend.content}</g>`,
    '</svg>',
    '',
  ].join('\n');
}

function describe({ name, nodes, edges }: Graph): string {
  const states = nodes.filter(({ kind }) => kind === 'prompt' || kind === 'script').length;
  return `The workflow ${name}: ${counted(states, 'state')}, ${counted(edges.length, 'transition')}.`;
}
