import { grouped } from '../graph/grouped.ts';
import type { Picture } from './picture.ts';

/** The parts of a picture that no edge connects. The part with the entry comes first. */
export function piecesOf(picture: Picture): readonly Picture[] {
  const pieceOf = new Map<string, string>();
  const near = grouped(
    picture.edges.flatMap(({ from, to }) => [
      [from, to],
      [to, from],
    ]),
    ([id]) => id,
  );
  const reach = (id: string, piece: string, open: string[]) => {
    if (pieceOf.has(id)) return;
    pieceOf.set(id, piece);
    open.push(id);
  };
  // A piece without the entry begins at the state that the references mean.
  const meant = picture.nodes.flatMap(({ kind, shows }) =>
    kind === 'reference' ? [shows.id] : [],
  );
  for (const start of [picture.entry, ...meant, ...picture.nodes.map(({ id }) => id)]) {
    const open: string[] = [];
    reach(start, start, open);
    for (let id = open.pop(); id !== undefined; id = open.pop()) {
      for (const [, other = ''] of near.get(id) ?? []) reach(other, start, open);
    }
  }
  const edges = grouped(picture.edges, ({ from }) => pieceOf.get(from));
  const nodes = grouped(picture.nodes, ({ id }) => pieceOf.get(id));
  return [...nodes].map(([piece = '', own]) => ({
    name: picture.name,
    entry: piece,
    nodes: own,
    edges: edges.get(piece) ?? [],
  }));
}
