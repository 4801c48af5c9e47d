// What the model knows after a compact, and that each handover is asked for and paid once.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { carryOut } from '../command.ts';
import { inSuite } from '../long.ts';
import { suiteAges } from './claude-sandbox.ts';
import { COMPACTING, killedPlay, REWOUND, rewoundPlay, SAYS, SEEN } from './compact-play.ts';
import {
  answering,
  conversationLines,
  eventsOf,
  killHard,
  lastPrompt,
  sandboxes,
  until,
} from './raymond-sandbox.ts';
import type { Answer } from './scripted-model.ts';

const sandbox = sandboxes();
const price = { input_tokens: 10_000, output_tokens: 1_000 };
const paid = (content: string, more: Partial<Answer> = {}): Answer => ({
  content,
  usage: price,
  ...more,
});

const LONG_MS = 300_000;

describe.each(suiteAges)('with the %s Claude Code', (age) => {
  test(
    'a compact at every depth of the stack begins a session that knows its handover and nothing else',
    async () => {
      const made = await sandbox({ age, workflow: COMPACTING, script: answering(SAYS) });
      const { run, model } = made;
      const seen = () => model.requests.map(conversationLines);
      expect(await run('workflow', '--workflow-id', 'r')).toMatchObject({ code: 2 });
      const answered = await run('resume', 'r', '--input', 'yes');
      expect(answered, answered.stderr).toMatchObject({ code: 0, stdout: 'all done\n' });
      expect(seen()).toEqual(SEEN);
      await rewoundPlay({ ...made, seen }, REWOUND);
    },
    LONG_MS,
  );

  test(
    'Raymond is killed after everything that it records, and the model sees the same and is paid once',
    async () => {
      const made = await sandbox({ age, workflow: COMPACTING, script: answering(SAYS) });
      await killedPlay({ ...made, seen: () => made.model.requests.map(conversationLines) });
    },
    2 * LONG_MS,
  );

  test(
    'a goto compacts a session beyond its limit, and a rewind asks again with the same history',
    async () => {
      const made = await sandbox({
        age,
        workflow: {
          'workflow.yaml': 'context: { max: 10_999 }\n'.replace('_', ''),
          'START.md': 'Do one.',
          'TWO.md': 'Do two.',
        },
        script: answering({
          'Do one.': paid('<goto>TWO</goto>'),
          'This conversation ends': [paid('first notes'), paid('second notes')],
          'Do two.': paid('<result>done</result>'),
        }),
      });
      const { run, model, journal, claude } = made;
      expect(await run('workflow', '--workflow-id', 'r')).toMatchObject({ stdout: 'done\n' });
      expect(eventsOf(journal('r'), 'handover-called')).toMatchObject([
        { tag: 'goto', state: 'TWO.md', tokens: 11_000 },
      ]);
      await carryOut(['rewind', 'r', '--to', 'main:2', '--yes'], claude.work, claude.environment);
      expect(await run('resume', 'r')).toMatchObject({ code: 0, stdout: 'done\n' });
      const [, asked, , again, last] = model.requests.map(conversationLines);
      expect(asked).toHaveLength(3);
      expect(again).toEqual(asked);
      expect(last).toHaveLength(1);
      expect(last?.[0]).toContain('second notes');
    },
    LONG_MS,
  );

  test.each(inSuite([['one process per prompt', '--no-warm']], [['kept warm']]))(
    'a handover is asked for once, although Raymond is killed while it is written (%s)',
    async (_, ...flags) => {
      let open = () => {};
      const opened = new Promise<void>((resolve) => {
        open = resolve;
      });
      const { start, model, journal, outputHas } = await sandbox({
        age,
        workflow: { 'START.md': 'Do one.', 'TWO.md': 'Do two.' },
        script: answering({
          'Do one.': paid('<compact>TWO</compact>'),
          'This conversation ends': paid('the notes', { after: opened }),
          'Do two.': paid('<result>done</result>'),
        }),
      });
      const first = start('workflow', '--workflow-id', 'r', ...flags);
      await model.arrived(2);
      await killHard(first.child);
      open();
      await outputHas('the notes');
      const second = start('resume', 'r');
      expect(await second.finished).toMatchObject({ code: 0, stdout: 'done\n' });
      expect(model.requests).toHaveLength(3);
      expect(lastPrompt(model.requests[2])).toContain('the notes');
      const costs = eventsOf(journal('r'), 'step-ended').map(({ cost }) => cost);
      expect(new Set(costs.map(({ usd }) => usd.toFixed(6))).size).toBe(1);
      expect(costs).toHaveLength(3);
    },
    LONG_MS,
  );

  test(
    'if the agent dies with Raymond, the handover is written again in a session without the first question',
    async () => {
      const { start, model, processes } = await sandbox({
        age,
        workflow: { 'START.md': 'Do one.', 'TWO.md': 'Do two.' },
        script: answering({
          'Do one.': paid('<compact>TWO</compact>'),
          'This conversation ends': [
            paid('lost', { after: new Promise(() => {}) }),
            paid('the notes'),
          ],
          'Do two.': paid('<result>done</result>'),
        }),
      });
      const first = start('workflow', '--workflow-id', 'r');
      await model.arrived(2);
      await killHard(first.child);
      for (const pid of processes()) process.kill(-pid, 'SIGKILL');
      const second = start('resume', 'r');
      expect(await second.finished).toMatchObject({ code: 0, stdout: 'done\n' });
      const [, lost, again, last] = model.requests.map(conversationLines);
      expect(again).toEqual(lost);
      expect(last).toHaveLength(1);
    },
    LONG_MS,
  );

  test(
    'Claude Code compacts nothing on its own, unless the user asks for it',
    async () => {
      const world = {
        age,
        workflow: {
          'START.md': '---\nmodel: haiku\n---\nDo one.',
          'TWO.md': '---\nmodel: haiku\n---\nDo two.',
        },
        script: answering({
          'Do one.': { content: '<goto>TWO</goto>', usage: { input_tokens: 130_000 } },
          'create a detailed summary': 'a summary',
          'Do two.': '<result>done</result>',
        }),
      };
      const environment = { CLAUDE_CODE_AUTO_COMPACT_WINDOW: '100000' };
      const plain = await sandbox({ ...world, environment });
      expect(await plain.run('workflow', '--no-warm')).toMatchObject({ stdout: 'done\n' });
      expect(plain.model.requests.map(conversationLines)).toEqual([
        ['user: Do one.'],
        ['user: Do one.', 'assistant: <goto>TWO</goto>', 'user: Do two.'],
      ]);
    },
    LONG_MS,
  );

  test(
    'a model fills placeholders once, without tools and without anything of the project',
    async () => {
      let open = () => {};
      const opened = new Promise<void>((resolve) => {
        open = resolve;
      });
      const { start, model, file, journal, claude, outputHas } = await sandbox({
        age,
        workflow: {
          'START.md': '---\nfill: haiku\n---\nWrite {{style}} about {{input}}.',
        },
        script: answering({
          'A prompt for another agent': paid('{"style": "a poem"}', { after: opened }),
          'Write a poem about rain.': paid('<result>done</result>'),
        }),
      });
      writeFileSync(file('CLAUDE.md'), 'PROJECT-MEMORY');
      writeFileSync(join(claude.configFolder, 'CLAUDE.md'), 'USER-MEMORY');
      const first = start('workflow', '--workflow-id', 'r', '--input', 'rain');
      await model.arrived(1);
      await killHard(first.child);
      open();
      await outputHas('a poem');
      const second = start('resume', 'r');
      expect(await second.finished).toMatchObject({ code: 0, stdout: 'done\n' });
      const [asked, worked] = model.requests;
      expect(model.requests).toHaveLength(2);
      expect(asked?.tools).toEqual([]);
      expect(asked?.model).toContain('haiku');
      const seen = JSON.stringify(asked);
      expect(seen).toContain('"input\\": \\"rain');
      for (const foreign of ['PROJECT-MEMORY', 'USER-MEMORY', `${file('')}workflow`])
        expect(seen).not.toContain(foreign);
      expect(JSON.stringify(worked)).toContain('PROJECT-MEMORY');
      expect(conversationLines(worked)).toEqual(['user: Write a poem about rain.']);
      expect(eventsOf(journal('r'), 'prompt-filled')).toMatchObject([
        { values: { style: 'a poem' } },
      ]);
      const [filled] = eventsOf(journal('r'), 'step-ended');
      expect(filled?.cost.usd).toBeGreaterThan(0);
      expect(await untilTotal(file)).toBeGreaterThan(filled?.cost.usd ?? 0);
    },
    LONG_MS,
  );
});

const untilTotal = (file: (name: string) => string) =>
  until(
    (): number => JSON.parse(readFileSync(file('.raymond/state/r.json'), 'utf8')).total_cost_usd,
  );
