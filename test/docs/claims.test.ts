// Numbers and texts in the documents must equal those of the code.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { AGENTS } from '../../src/execute/agents/agents.ts';
import { MOST_REMINDERS } from '../../src/interpret/decide-answer.ts';
import { newRun } from '../../src/interpret/new-run.ts';
import { reminderText } from '../../src/interpret/policy.ts';
import { MAX_STATE_BYTES } from '../../src/load/folder.ts';
import { JOURNAL_VERSION } from '../../src/model/event.ts';
import type { Failure } from '../../src/model/failure.ts';
import { readPrompt } from '../../src/parse/front-matter.ts';
import { play } from '../../src/testing.ts';
import { readDocument, root } from './documents.ts';

const { settings } = newRun;
const money = 'docs/guide/money-and-limits.md';
const wrong = 'docs/guide/when-things-go-wrong.md';
const pauses = await pausesOf({ kind: 'crashed', message: '' });
const unknownWait = await waitFor({});
const longestWait = await waitFor({ resetsAt: 8e15 });
const count = ['no', 'one', 'two', 'three', 'four', 'five'];

test.each([
  [money, `a budget in US dollars: ${settings.budgetUsd.toFixed(2)} unless`],
  [money, `the default is ${settings.idleTimeoutMs / 1000}, and 0 is never`],
  [
    'docs/guide/parallel-work.md',
    `At most ${settings.maxParallelPrompts} prompts and ${settings.maxParallelScripts} scripts`,
  ],
  ['docs/guide/permissions.md', `The default is \`${AGENTS.defaults.permissionMode}\`.`],
  [wrong, `up to ${count[pauses.length]} times, after ${spoken(pauses)} seconds`],
  ['docs/decisions/0020-retry-pauses.md', `after ${spoken(pauses)} seconds`],
  ['docs/decisions/0020-retry-pauses.md', `${unknownWait / 60} minutes if the end is not`],
  ['docs/decisions/0020-retry-pauses.md', `${longestWait / 3600} hours at most`],
  ['docs/reference/protocol.md', `A state has at most ${MAX_STATE_BYTES / 1024 / 1024} MiB`],
  ['docs/reference/journal.md', `This is version ${JOURNAL_VERSION}`],
])('%s: %s', (path, claim) => {
  expect(readDocument(path).text).toContain(claim);
});

test.each([
  ['src/index.ts', 'docs/reference/api.md'],
  ['src/testing.ts', 'docs/reference/api.md'],
])('everything that %s exports is in %s', (module, path) => {
  const code = readFileSync(join(root, module), 'utf8');
  const lists = [...code.matchAll(/^export (?:type )?\{([^}]*)\}/gm)].flatMap(([, list = '']) =>
    list.split(',').map((name) => name.replace(/\btype\b/, '').trim()),
  );
  const own = [...code.matchAll(/^export (?:async )?(?:function|const|interface|type) (\w+)/gm)];
  const names = [...lists, ...own.map(([, name = '']) => name)].filter((name) => name !== '');
  const { text } = readDocument(path);
  expect(names.filter((name) => !new RegExp(`\`${name}\\b`).test(text))).toEqual([]);
});

test('the guide shows the reminder that an agent receives', () => {
  const { blocks, text } = readDocument('docs/guide/policies.md');
  const triage = blocks.find(({ file }) => file === 'triage/START.md');
  const { allowed = [] } = readPrompt('START.md', triage?.text ?? '', AGENTS).policy;
  const shown = blocks.find((block) => block.text.startsWith('Your last message'));
  expect(shown?.text).toBe(`${reminderText('There is no transition tag.', allowed)}\n`);
  expect(text).toContain(`at most ${count[MOST_REMINDERS]} reminders. Then the agent fails.`);
});

/** How long an agent waits before each retry, in seconds. */
async function pausesOf(failure: Failure): Promise<readonly number[]> {
  const { events } = await play({ START: Array.from({ length: 9 }, () => ({ failure })) });
  return events.flatMap((event) =>
    event.type === 'agent-waits' ? [(event.until - event.at) / 1000] : [],
  );
}

/** How long a run waits for the end of a usage limit, in seconds. */
async function waitFor(limit: Partial<Failure>): Promise<number> {
  const failure: Failure = { kind: 'usage-limit', message: '', ...limit };
  const { events } = await play({ START: [{ failure }, '<result></result>'] });
  const limited = events.find((event) => event.type === 'usage-limited');
  return limited ? (limited.until - limited.at) / 1000 : 0;
}

function spoken(numbers: readonly number[]): string {
  return `${numbers.slice(0, -1).join(', ')} and ${numbers.at(-1)}`;
}
