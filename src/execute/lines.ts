/**
 * Splits a text that arrives in pieces into its complete lines. Pieces are joined once, when their line is
 * complete, so that a long line takes linear time.
 */
export function lineSplitter(): (piece: string) => readonly string[] {
  let pieces: string[] = [];
  return (text) => {
    const [first = '', ...others] = text.split('\n');
    pieces.push(first);
    const rest = others.pop();
    if (rest === undefined) return [];
    const lines = [pieces.join(''), ...others];
    pieces = [rest];
    return lines;
  };
}
