// A rewind with the real agent: the model remembers what it knew at the moment, files come back, and
// every turn is paid once.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { RunEvent, RunEventOf } from '../../src/model/event.ts';
import { carryOut } from '../command.ts';
import { suiteAges } from './claude-sandbox.ts';
import {
  answering,
  conversationLines,
  lastPrompt,
  type RaymondSandbox,
  sandboxes,
} from './raymond-sandbox.ts';
import type { Reply } from './scripted-model.ts';

const sandbox = sandboxes();

const usage = { input_tokens: 10_000, output_tokens: 100 };
const paid = (content: string): Reply => ({ content, usage });
const writing = (path: string, content: string): Reply => ({
  content: [{ type: 'tool_use', name: 'Write', input: { file_path: path, content } }],
  usage,
});

function repository({ claude }: RaymondSandbox): void {
  const git = (...args: string[]) => execFileSync('git', ['-C', claude.work, ...args]);
  git('init', '-q');
  writeFileSync(`${claude.work}/.gitignore`, 'ignored\n');
  git('add', '.gitignore');
  git('-c', 'user.name=x', '-c', 'user.email=x@example.org', 'commit', '-qm', 'first');
}

const textOf = (file: string) => (existsSync(file) ? readFileSync(file, 'utf8') : undefined);

const rewinds = (events: readonly RunEvent[]) =>
  events.filter((event): event is RunEventOf<'run-rewound'> => event.type === 'run-rewound');

function costs({ journal }: RaymondSandbox): readonly number[] {
  return journal('r').flatMap((event) =>
    event.type === 'step-ended' ? [Number(event.cost.usd.toFixed(6))] : [],
  );
}

/** In this process, because the start of another one takes longer than the rewind. */
const rewind = ({ claude }: RaymondSandbox, ...args: string[]) =>
  carryOut(['rewind', 'r', ...args, '--yes'], claude.work, claude.environment);

const stateOf = ({ file }: RaymondSandbox) =>
  JSON.parse(readFileSync(file('.raymond/state/r.json'), 'utf8'));

/** A test with several turns on a busy machine. */
const LONG_MS = 300_000;

describe.each(suiteAges)('with the %s Claude Code', (age) => {
  test(
    'conversation, files and stack go back, and each turn is paid once',
    async () => {
      let written = 0;
      const made = await sandbox({
        age,
        workflow: {
          'START.md': 'Do one.',
          'SUB.md': 'Look into it.',
          'BACK.md': 'It was {{result}}.',
          'LAST.md': 'Finish.',
        },
        script: (request) => {
          const said = lastPrompt(request);
          if (said === 'Do one.') return paid('<call return="BACK">SUB</call>');
          if (said === 'Look into it.') return writing(file('sub'), `text ${++written}`);
          if (said === 'It was seen.') return writing(file('back'), 'b');
          if (said === 'Finish.') return paid('<result>done</result>');
          return paid(said.includes('work/sub') ? '<result>seen</result>' : '<goto>LAST</goto>');
        },
      });
      const { run, model, file, journal } = made;
      const files = () => ['sub', 'back', 'mine', 'ignored'].map((name) => textOf(file(name)));
      const newest = () => rewinds(journal('r')).at(-1);
      repository(made);
      writeFileSync(file('mine'), 'untracked');
      expect(await run('workflow', '--workflow-id', 'r')).toMatchObject({ code: 0 });
      writeFileSync(file('ignored'), 'ignored');
      const [, firstSub, , firstBack] = model.requests.map(conversationLines);
      expect(files()).toEqual(['text 1', 'b', 'untracked', 'ignored']);

      expect(await rewind(made, '--to', 'main:2')).toMatchObject({ code: 0 });
      expect(files()).toEqual([undefined, undefined, 'untracked', 'ignored']);
      expect(newest()?.agents).toMatchObject([{ state: 'SUB.md', stack: [{ state: 'BACK.md' }] }]);
      expect(await run('resume', 'r')).toMatchObject({ code: 0, stdout: 'done\n' });
      expect(files()).toEqual(['text 2', 'b', 'untracked', 'ignored']);
      const again = model.requests.slice(6).map(conversationLines);
      expect(again[0]).toEqual(firstSub);
      expect(again[2]).toEqual(firstBack);
      expect(again).toHaveLength(5);

      // A rewind of a rewind, and back.
      expect(await rewind(made, '--to', 'main:6')).toMatchObject({ code: 0 });
      expect(files()).toEqual(['text 2', undefined, 'untracked', 'ignored']);
      expect(await rewind(made, '--undo')).toMatchObject({ code: 0 });
      expect(files()).toEqual(['text 2', 'b', 'untracked', 'ignored']);
      expect(stateOf(made)).toMatchObject({ result: 'done', status: { outcome: 'completed' } });
      expect(await rewind(made, '--to', 'main:7')).toMatchObject({ code: 0 });
      expect(await run('resume', 'r')).toMatchObject({ code: 0, stdout: 'done\n' });
      expect(model.requests.slice(11).map(conversationLines)).toEqual([again[4]]);

      const [start, sub, back, last] = costs(made);
      expect(costs(made)).toEqual([start, sub, back, last, sub, back, last, last]);
      expect(start).toBeGreaterThan(0);
      const sum = costs(made).reduce((all, one) => all + one, 0);
      expect(stateOf(made).total_cost_usd).toBeCloseTo(sum, 5);
    },
    LONG_MS,
  );
});

describe.each(suiteAges)('with forks and the %s Claude Code', (age) => {
  test(
    'it is refused while a process works on the run, and children are gone afterwards',
    async () => {
      let release = () => {};
      const after = new Promise<void>((resolve) => {
        release = resolve;
      });
      const made = await sandbox({
        age,
        workflow: { 'START.md': 'Fork.', 'N.md': 'Wait.', 'W.md': 'Work.' },
        script: answering({
          'Fork.': '<fork next="N">W</fork>',
          'Work.': [{ content: '<result>w</result>', after }, '<result>w</result>'],
          'Wait.': '<result>done</result>',
        }),
      });
      const { start, run, model, journal } = made;
      repository(made);
      const running = start('workflow', '--workflow-id', 'r', '--budget', '0');
      await model.arrived(2);
      const refused = await rewind(made, '--to', 'main:1');
      expect(refused.code).toBe(1);
      expect(refused.stderr).toContain('is working on');
      release();
      expect(await running.finished).toMatchObject({ code: 0 });
      expect(await rewind(made, '--to', 'main:2')).toMatchObject({ code: 0 });
      expect(rewinds(journal('r')).at(-1)?.gone).toEqual([]);
      expect(await rewind(made, '--to', 'main:1')).toMatchObject({ code: 0 });
      expect(rewinds(journal('r')).at(-1)?.gone).toEqual(['main_w1']);
      expect(await run('resume', 'r')).toMatchObject({ code: 0, stdout: 'done\n' });
      const ended: { id: string; status: string }[] = stateOf(made).ended_agents;
      expect(ended.map(({ id, status }) => `${id} ${status}`).sort()).toEqual([
        'main ended',
        'main_w1 rewound',
        'main_w2 ended',
      ]);
    },
    LONG_MS,
  );
});
