// A run in a database, with the real Claude Code on two workers that share no home.
import { execFileSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { Fleet } from '../fleet/fleet.ts';
import { newDatabase } from '../postgres/new-database.ts';
import { claudeBinary, claudeSandbox, suiteAges } from './claude-sandbox.ts';
import { conversationLines } from './raymond-sandbox.ts';
import { type Reply, scriptedModel } from './scripted-model.ts';

test.each(suiteAges)(
  'a prompt continues on another worker after its host has died (%s)',
  async (age) => {
    const never = new Promise<void>(() => {});
    const replies: Reply[] = [
      'noted <goto>SECOND</goto>',
      { content: '', after: never },
      'again <call return="LAST">ASIDE</call>',
      'aside <result>said</result>',
      'done <result>ok</result>',
    ];
    const model = await scriptedModel((_, turn) => replies[turn] ?? 'too many');
    onTestFinished(() => model.close());
    const fleet = await Fleet.open(await newDatabase(), {
      'flow/START.md': 'Q1',
      'flow/SECOND.md': 'Q2',
      'flow/ASIDE.md': 'Q3',
      'flow/LAST.md': 'Q4 {{result}}',
    });
    onTestFinished(() => fleet.dispose());
    const worker = async (name: string) => {
      const sandbox = await claudeSandbox(model.url, { RAYMOND_CLAUDE: claudeBinary(age) });
      onTestFinished(() => sandbox.remove());
      const { PATH: _, ...environment } = sandbox.environment;
      return { sandbox, process: fleet.worker(name, ['--lease', '3'], environment) };
    };
    const { folder } = fleet.project;
    const git = (...args: string[]) => execFileSync('git', args, { cwd: folder, stdio: 'pipe' });
    git('init', '-q', '--bare', join(folder, '..', 'remote.git'));
    git('init', '-q');
    const run = await fleet.begin('flow', undefined, join(folder, '..', 'remote.git'));
    const left = await worker('left');
    await model.arrived(2);
    left.process.child.kill('SIGKILL');
    await left.process.ended;
    rmSync(left.sandbox.configFolder, { recursive: true, force: true });
    const right = await worker('right');
    const ended = await fleet.ended(run).catch((error) => {
      throw new Error(`${right.process.stderr()}\n${error}`);
    });
    expect(ended.result).toBe('ok');
    const history = model.requests.map((request) =>
      conversationLines(request).map((line) => line.replace(/^\w+: /, '').split(' <')[0]),
    );
    expect(history).toEqual([
      ['Q1'],
      ['Q1', 'noted', 'Q2'],
      ['Q1', 'noted', 'Q2'],
      ['Q1', 'noted', 'Q2', 'again', 'Q3'],
      ['Q1', 'noted', 'Q2', 'again', 'Q4 said'],
    ]);
  },
);
