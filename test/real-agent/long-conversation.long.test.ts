// The output of a prompt step cost money, so it is kept, compressed, however many steps follow.
import { existsSync, readdirSync } from 'node:fs';
import { expect, test } from 'vitest';
import { stepMessages } from '../../src/execute/steps/step-folder.ts';
import { realDisk } from '../../src/journal/disk.ts';
import { fileRecords } from '../../src/journal/file-records.ts';
import { suiteAges } from './claude-sandbox.ts';
import { killHard, lastPrompt, sandboxes, until } from './raymond-sandbox.ts';

const sandbox = sandboxes();
const TURNS = 45;

test.each(suiteAges)(
  'no answer of a long conversation is lost, even after a kill (%s)',
  async (age) => {
    let release = () => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    const { start, run, file, model } = await sandbox({
      age,
      workflow: { 'START.md': 'Turn {{input}}' },
      script: (request) => {
        const turn = Number(lastPrompt(request).replace('Turn ', '')) || 0;
        const next = turn + 1;
        const content =
          next < TURNS ? `<goto input="${next}">START</goto>` : `<result>${next} turns</result>`;
        return turn === 30 ? { content, after: released } : { content };
      },
    });
    const stepFile = (step: number, name: string) =>
      file(`.raymond/runs/r/steps/main/${step}/${name}`);
    const first = start('workflow', '--workflow-id', 'r');
    await model.arrived(31);
    // The process of the first step also answers the step that is running.
    await until(() => existsSync(stepFile(10, 'answer.gz')));
    expect(existsSync(stepFile(1, 'stdout'))).toBe(true);
    await killHard(first.child);
    release();

    expect(await run('resume', 'r')).toMatchObject({ code: 0, stdout: `${TURNS} turns\n` });
    expect(model.requests).toHaveLength(TURNS);
    const stepFolder = (step: number) => file(`.raymond/runs/r/steps/main/${step}`);
    expect(readdirSync(stepFolder(TURNS - 20))).toContain('answer.gz');
    expect(readdirSync(stepFolder(TURNS - 19))).toContain('answer');
    const folders = { step: (_agent: string, step: number) => stepFolder(step) };
    const records = fileRecords(realDisk, { folders });
    const answers = Array.from({ length: TURNS - 1 }, (_, turn) => turn + 1);
    const kept = answers.map((step) => records.read({ agent: 'main', step }, 'answer', 10_000));
    expect((await Promise.all(kept)).map((answer) => Buffer.from(answer ?? []).toString())).toEqual(
      answers.map((next) => `<goto input="${next}">START</goto>`),
    );
    expect(answers.filter((step) => stepMessages(stepFolder(step), 'prompt').length < 2)).toEqual(
      [],
    );
  },
);
