import { expect, test } from 'vitest';
import { scheduleProblem, timezoneProblem } from './cron.ts';
import { readTriggers } from './triggers.ts';
import { YamlReader } from './yaml-reader.ts';

function read(text: string) {
  const reader = new YamlReader('workflow.yaml', `triggers:\n${text}`);
  const field = reader.fieldIn(reader.root, 'triggers');
  const triggers = field && readTriggers(reader, field).triggers;
  return { triggers, faults: reader.takeFaults() };
}

test('every kind, with what its author left out', () => {
  const { triggers, faults } = read(`
  - schedule: "30 3  * * 1-5"
    timezone: Europe/Berlin
    missed: all
  - schedule: 0 0 29 2 *
    overlap: replace
  - webhook: issues
    secret: GITHUB_WEBHOOK
    match: { action: [opened, labeled], "issue.labels.*.name": agent, n: 7, gone: null }
  - { webhook: open, unsigned: true, overlap: skip }
  - { webhook: strict, secret: S, signature: gitlab }
  - files: ./inbox//*.md
`);
  expect(faults).toEqual([]);
  expect(triggers).toEqual([
    {
      ...{ kind: 'schedule', schedule: '30 3 * * 1-5', timezone: 'Europe/Berlin' },
      ...{ overlap: 'skip', missed: 'all' },
    },
    { kind: 'schedule', schedule: '0 0 29 2 *', overlap: 'replace', missed: 'once' },
    {
      ...{ kind: 'webhook', name: 'issues', secret: 'GITHUB_WEBHOOK', overlap: 'queue' },
      match: { action: ['opened', 'labeled'], 'issue.labels.*.name': 'agent', n: 7, gone: null },
    },
    { kind: 'webhook', name: 'open', match: {}, overlap: 'skip' },
    {
      ...{ kind: 'webhook', name: 'strict', secret: 'S', signature: 'gitlab' },
      ...{ match: {}, overlap: 'queue' },
    },
    { kind: 'files', pattern: 'inbox/*.md', overlap: 'queue' },
  ]);
});

test.each<[trigger: string, code: string, says: string]>([
  ['schedule: "61 * * * *"', 'bad-schedule', '"61" is not a list of minutes'],
  ['schedule: "* * * *"', 'bad-schedule', 'five fields, not 4'],
  ['schedule: "@daily"', 'bad-schedule', 'five fields, not 1'],
  ['schedule: "0 0 30 2 *"', 'never-due', 'never comes'],
  ['schedule: "0 0 31 4,6 *"', 'never-due', 'never comes'],
  ['{ schedule: "* * * * *", timezone: Europe/Berln }', 'unknown-timezone', 'Europe/Berln'],
  ['{ schedule: "* * * * *", timezone: "+02:00" }', 'unknown-timezone', 'like Europe/Berlin'],
  ['{ schedule: "* * * * *", missed: never }', 'bad-value', 'once, skip or all'],
  ['{ schedule: "* * * * *", overlap: [skip] }', 'bad-value', 'skip, queue or replace'],
  ['{ schedule: "* * * * *", secret: X }', 'unknown-key', 'secret'],
  ['webhook: issues', 'no-secret', 'The webhook issues has no secret.'],
  ['{ webhook: issues, unsigned: false }', 'no-secret', 'has no secret'],
  ['{ webhook: issues, unsigned: true, secret: S }', 'no-secret', 'signed and unsigned'],
  ['{ webhook: a/b, secret: S }', 'bad-value', 'a word'],
  ['{ webhook: a, secret: PATH }', 'bad-value', 'the name of a secret'],
  ['{ webhook: a, secret: S, match: [x] }', 'bad-value', 'a map of paths'],
  ['{ webhook: a, secret: S, match: { x: { y: 1 } } }', 'bad-value', 'a list of values'],
  ['{ webhook: a, secret: S, signature: md5 }', 'bad-value', 'standard, github or gitlab'],
  ['files: ../inbox/*.md', 'files-outside', 'not in the project'],
  ['files: /tmp/*.md', 'files-outside', 'not in the project'],
  ['files: ~/inbox/*', 'files-outside', 'not in the project'],
  ['files: .raymond/state/*', 'files-outside', 'not in the project'],
  ['files: sub/.Raymond/*', 'files-outside', 'not in the project'],
  ['files: .git/hooks/*', 'files-outside', 'not in the project'],
  ['files: "*/inbox.md"', 'bad-value', 'a folder and a name'],
  ['files: "*.md"', 'bad-value', 'a folder and a name'],
  ['files: inbox/', 'bad-value', 'a folder and a name'],
  ['{ files: a/b, schedule: "* * * * *" }', 'bad-value', 'schedule, webhook or files'],
  ['every: day', 'bad-value', 'schedule, webhook or files'],
  ['hourly', 'bad-value', 'schedule, webhook or files'],
])('%s is refused', (trigger, code, says) => {
  const { triggers, faults } = read(`  - ${trigger}`);
  expect(triggers).toEqual([]);
  expect(faults.map((fault) => fault.code)).toEqual([code]);
  expect(`${faults[0]?.message} ${faults[0]?.remedy}`).toContain(says);
});

test('the same trigger twice is refused', () => {
  const { triggers, faults } = read('  - files: in/*\n  - { files: in/*, overlap: skip }');
  expect(triggers).toHaveLength(1);
  expect(faults).toMatchObject([{ code: 'same-trigger', line: 3 }]);
});

test.each([
  '* * * * *',
  '*/15 0-6/2 1,15 JAN-MAR,dec 1-5',
  '0 0 29 2 *',
  '0 0 31 * *',
  '5 4 * * 7',
])('%s is a schedule', (text) => {
  expect(scheduleProblem(text)).toBeUndefined();
});

test.each([
  '',
  '* * * * * *',
  '*-5 * * * *',
  '5/15 * * * *',
  '5-1 * * * *',
  '*/0 * * * *',
  '1, * * * *',
])('"%s" is no schedule', (text) => {
  expect(scheduleProblem(text)?.code).toBe('bad-schedule');
});

test('a day that no month has comes if a weekday is named too', () => {
  expect(scheduleProblem('0 0 30 2 1')).toBeUndefined();
});

test('time zones of this machine are known', () => {
  expect(timezoneProblem('UTC')).toBeUndefined();
  expect(timezoneProblem('America/New_York')).toBeUndefined();
  expect(timezoneProblem('Mars/Base')).toContain('unknown');
});
