import type { Heat } from './heat.ts';
import { LOCK, LOCK_STYLE } from './lines.ts';
import type { LineRole, Picture, PictureNode } from './picture.ts';
import { textWidth } from './text-width.ts';

export interface Legend {
  readonly width: number;
  readonly height: number;
  /** Elements of SVG. */
  readonly content: string;
}

/** Explains the shapes and lines that a drawing uses, in rows. Leaves out the others. */
export function legendOf(picture: Picture, width: number, heat?: Heat): Legend {
  const items = itemsFor(picture, heat);
  const column = Math.max(...items.map(({ words }) => textWidth(words, 11))) + SIGN + 24;
  const perRow = Math.max(1, Math.min(items.length, Math.floor((width - 2 * MARGIN) / column)));
  const drawn = items.map(({ sign, words }, index) => {
    const x = MARGIN + (index % perRow) * column;
    const y = Math.floor(index / perRow) * ROW;
    return `<g transform="translate(${Math.round(x)} ${y})">${sign}<text x="${SIGN}" y="14">${words}</text></g>`;
  });
  return {
    width: Math.ceil(2 * MARGIN + perRow * column),
    height: Math.ceil(items.length / perRow) * ROW + MARGIN / 2,
    content: drawn.join(''),
  };
}

const [MARGIN, SIGN, ROW] = [28, 40, 24];

interface Item {
  readonly sign: string;
  readonly words: string;
}

function itemsFor({ nodes, edges }: Picture, heat: Heat | undefined): readonly Item[] {
  const kinds = new Set(nodes.map(({ kind }) => kind));
  const roles = new Set(edges.map(({ role }) => role));
  const ends = nodes.some(({ result }) => result !== undefined);
  return [
    { sign: '<circle class="entry" cx="17" cy="10" r="5"/>', words: 'the run starts here' },
    ...KINDS.flatMap(([kind, words]) => (kinds.has(kind) ? [{ sign: box(kind), words }] : [])),
    ...ROLES.flatMap(([role, words]) => (roles.has(role) ? [{ sign: line(role), words }] : [])),
    ...(heat ? [{ sign: SCALE, words: `more colour: more ${heat}` }] : []),
    ...(nodes.some(({ shows }) => shows.rights !== undefined)
      ? [
          {
            sign: `<path class="lock" ${LOCK_STYLE} transform="translate(17 10)" d="${LOCK}"/>`,
            words: LOCKED,
          },
        ]
      : []),
    ...(ends ? [{ sign: RESULT, words: 'ends, or returns to its caller' }] : []),
  ];
}

const KINDS: readonly (readonly [PictureNode['kind'], string])[] = [
  ['prompt', 'prompt'],
  ['script', 'script'],
  ['reference', 'a state drawn elsewhere'],
  ['workflow', 'other workflow'],
  ['unknown', 'chosen at run time'],
  ['broken', 'cannot be read'],
  ['missing', 'missing'],
];

const ROLES: readonly (readonly [LineRole, string])[] = [
  ['go', 'continues at'],
  ['call', 'calls'],
  ['return', 'returns to the caller'],
  ['worker', 'starts a child agent'],
  ['next', 'continues beside its child agents'],
  ['join', 'continues after its child agents'],
  ['failed', 'continues if a child agent failed'],
  ['answer', 'asks a person'],
  ['timeout', 'its time is over'],
  ['judge', 'is judged by'],
  ['handover', 'asks for a handover with'],
];

const SCALE = [0.1, 0.35, 0.6]
  .map(
    (part, i) =>
      `<rect class="heat" x="${2 + 10 * i}" y="2" width="10" height="16" fill-opacity="${part}"/>`,
  )
  .join('');

const LOCKED = 'limited by rights';

const RESULT = '<g class="result"><rect x="2" y="3" width="30" height="14" rx="7"/></g>';

function box(kind: PictureNode['kind']): string {
  const radius = kind === 'prompt' ? 6 : kind === 'unknown' ? 8 : 2;
  return `<g class="node ${kind}"><rect class="box" x="2" y="2" width="30" height="16" rx="${radius}"/>${INSIDE.get(kind) ?? ''}</g>`;
}

const INSIDE: ReadonlyMap<PictureNode['kind'], string> = new Map([
  ['script', '<rect class="bar" x="2" y="2" width="4" height="16"/>'],
  ['workflow', '<rect class="inner" x="5" y="5" width="24" height="10"/>'],
  ['reference', '<path class="side" d="M6 2v16M28 2v16"/>'],
]);

function line(role: LineRole): string {
  return `<path class="edge ${role}" d="M2 10H32" marker-end="url(#head-${role})"/>`;
}
