import { type NodeUse, type Overlay, timesTaken, useOf } from '../graph/overlay.ts';
import { visible } from '../model/visible.ts';
import type { Words } from './layout-parts.ts';
import type { PictureEdge, PictureNode } from './picture.ts';

/** The texts of a drawing, with the numbers of a run if there is one. */
export function wordsFor(overlay: Overlay | undefined): Words {
  const times = (count: number) => (count > 0 ? `${shortCount(count)}×` : '');
  return {
    name: nameOf,
    detail: (node) => detailOf(node, overlay),
    result: ({ result }) =>
      joined('result', result && overlay ? times(timesTaken(overlay, result)) : ''),
    label: (edge) => joined(labelOf(edge), overlay ? times(timesTaken(overlay, edge.taken)) : ''),
  };
}

const joined = (...words: readonly string[]) => words.filter((word) => word !== '').join(' ');

/** A name is as long as a file name can be. Its middle is left out, because names often differ at the end. */
function nameOf({ shows }: PictureNode): string {
  const chars = [...shows.label];
  if (chars.length <= LONGEST_NAME) return shows.label;
  return [...chars.slice(0, LONGEST_NAME - 13), '…', ...chars.slice(-12)].join('');
}

const LONGEST_NAME = 36;

function detailOf({ kind, shows }: PictureNode, overlay: Overlay | undefined): string {
  if (kind === 'reference') return '';
  const use = overlay && useOf(overlay, shows.id);
  if (!use) return shows.detail;
  const cost = use.costUsd > 0 ? [shortCost(use, use.costUsd < 1 ? 3 : 2)] : [];
  return [`${shortCount(use.visits)}×`, shortTime(use.timeMs), ...cost].join(' · ');
}

/** An estimate is marked, as in all other output. */
export function shortCost(
  { costUsd, isPriced }: Pick<NodeUse, 'costUsd' | 'isPriced'>,
  digits: number,
) {
  return `${isPriced && costUsd > 0 ? '~' : ''}$${costUsd.toFixed(digits)}`;
}

/** The mean of several runs may be a fraction. */
export function shortCount(count: number): string {
  if (Number.isInteger(count)) return String(count);
  return count < 0.1 ? '<0.1' : count.toFixed(1);
}

function shortTime(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)} s`;
  const minutes = Math.floor(ms / 60_000);
  if (minutes < 60) return `${minutes} min ${Math.floor((ms % 60_000) / 1000)} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** Most lines are a goto, or the way back from a callee. They need no label. */
function labelOf({ label }: PictureEdge): string {
  return label === 'goto' || label === 'return' ? '' : visible(label);
}
