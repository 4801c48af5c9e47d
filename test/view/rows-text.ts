import type { Row } from '../../src/observe/block.ts';

/** The rows as a screen without colour shows them. `[]` stands for the cursor. */
export function rowsText(rows: readonly Row[]): string {
  return rows.map((row) => `${rowText(row)}\n`).join('');
}

function rowText({ pieces, cursorAfter }: Row): string {
  let text = '';
  for (const [i, piece] of pieces.entries()) {
    text += ' '.repeat(Math.max(0, (piece.column ?? 0) - Array.from(text).length));
    text += `${piece.text}${i === cursorAfter ? '[]' : ''}`;
  }
  return text;
}
