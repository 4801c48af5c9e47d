/** The decision records, with what their first lines say. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { readDocument, root } from './documents.ts';

export const DECISIONS = 'docs/decisions';

export interface DecisionRecord {
  readonly file: string;
  readonly number: number;
  readonly title: string;
  /** As `2026-11-15`. */
  readonly date: string;
  readonly status: string;
  readonly text: string;
}

export function decisionRecords(): readonly DecisionRecord[] {
  const files = readdirSync(join(root, DECISIONS)).filter((name) => name !== 'README.md');
  return files.sort().map((file) => {
    const { text } = readDocument(`${DECISIONS}/${file}`);
    const head = /^# (\d+)\. (\S.*)\n\n- Date: (\d{4}-\d\d-\d\d)\n- Status: (.*)\n\n/.exec(text);
    const [, number, title = '', date = '', status = ''] = head ?? [];
    return { file, number: Number(number), title, date, status, text };
  });
}
