// Numbers and texts that the documents state in passing are those of the code.
import { expect, test } from 'vitest';
import { newRun } from '../../src/interpret/apply.ts';
import { MOST_REMINDERS } from '../../src/interpret/decide.ts';
import { reminderText } from '../../src/interpret/policy.ts';
import { recover } from '../../src/interpret/recover.ts';
import { MAX_STATE_BYTES } from '../../src/load/folder.ts';
import { JOURNAL_VERSION } from '../../src/model/event.ts';
import { readPrompt } from '../../src/parse/front-matter.ts';
import { readDocument } from './documents.ts';

const { settings } = newRun;
const money = 'docs/guide/money-and-limits.md';
const wrong = 'docs/guide/when-things-go-wrong.md';
const count = ['no', 'one', 'two', 'three', 'four', 'five'];

test.each([
  [money, `a budget in US dollars: ${settings.budgetUsd.toFixed(2)} unless`],
  [money, `the default is ${settings.idleTimeoutMs / 1000}, and 0 is never`],
  [
    'docs/guide/parallel-work.md',
    `At most ${settings.maxParallelPrompts} prompts and ${settings.maxParallelScripts} scripts`,
  ],
  [money, `(\`${settings.permissionMode}\`)`],
  [wrong, `up to ${count[pauses().length]} times, after ${spoken(pauses())} seconds`],
  ['docs/decisions/0020-retry-pauses.md', `after ${spoken(pauses())} seconds`],
  ['docs/decisions/0020-retry-pauses.md', `${wait(undefined) / 60_000} minutes if the end is not`],
  ['docs/decisions/0020-retry-pauses.md', `${wait(1e15) / 3_600_000} hours at most`],
  ['docs/reference/protocol.md', `A state has at most ${MAX_STATE_BYTES / 1024 / 1024} MiB`],
  ['docs/reference/journal.md', `The format is \`version\` ${JOURNAL_VERSION}`],
])('%s: %s', (path, claim) => {
  expect(readDocument(path).text).toContain(claim);
});

test('the guide shows the reminder that an agent gets', () => {
  const { blocks, text } = readDocument('docs/guide/policies.md');
  const triage = blocks.find(({ file }) => file === 'triage/START.md');
  const { allowed = [] } = readPrompt('START.md', triage?.text ?? '').policy;
  const shown = blocks.find((block) => block.text.startsWith('Your last message'));
  expect(shown?.text).toBe(`${reminderText('There is no transition tag.', allowed)}\n`);
  expect(text).toContain(`${['', 'Once', 'Twice', 'Three times'][MOST_REMINDERS]}. Then the agent`);
});

/** In seconds. */
function pauses(): readonly number[] {
  const found: number[] = [];
  for (;;) {
    const tries = { retries: found.length, isScript: false, at: 0 };
    const recovery = recover({ kind: 'crashed', message: '' }, tries);
    if (recovery.kind !== 'retry') return found;
    found.push(recovery.until / 1000);
  }
}

function wait(resetsAt: number | undefined): number {
  const limit = { kind: 'usage-limit', message: '', ...(resetsAt && { resetsAt }) } as const;
  const recovery = recover(limit, { retries: 0, isScript: false, at: 0 });
  return recovery.kind === 'wait' ? recovery.until : 0;
}

function spoken(numbers: readonly number[]): string {
  return `${numbers.slice(0, -1).join(', ')} and ${numbers.at(-1)}`;
}
