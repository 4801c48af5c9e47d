// What a person says to a working agent reaches its model exactly once, whatever is killed.
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { suiteAges } from './claude-sandbox.ts';
import { allowBash, eventsOf, lastPrompt, sandboxes, until } from './raymond-sandbox.ts';
import { type Blow, playBlow, timesIn, WORDS } from './steering-run.ts';

const sandbox = sandboxes();

const BLOWS: readonly Blow[] = [
  { victim: 'nobody', when: 'heard' },
  { victim: 'agent', when: 'heard' },
  { victim: 'both', when: 'unheard' },
];

describe.each(suiteAges)('with the %s Claude Code', (age) => {
  test.each(BLOWS)(
    'words that are $when when $victim is killed',
    (blow) => playBlow(sandbox, age, blow),
    60_000,
  );

  test('words that come with the answer get another answer, which counts', async () => {
    let release = () => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    const { start, run, model, journal } = await sandbox({
      age,
      workflow: { 'START.md': 'Work.', 'NEXT.md': 'Finish.', 'OTHER.md': 'Other.' },
      script: (request) => {
        const text = lastPrompt(request);
        if (text.includes('Other.')) return '<result>done</result>';
        if (text.includes(WORDS)) return '<goto>OTHER</goto>';
        return { content: '<goto>NEXT</goto>', after: released };
      },
    });
    const raymond = start('workflow', '--workflow-id', 'r');
    await model.arrived(1);
    expect(await run('say', 'r', WORDS)).toMatchObject({ code: 0 });
    release();
    expect(await raymond.finished).toMatchObject({ code: 0 });
    expect(timesIn(model.requests.at(-1))).toBe(1);
    expect(eventsOf(journal('r'), 'words-heard')).toHaveLength(1);
    expect(eventsOf(journal('r'), 'agent-moved')).toMatchObject([{ state: 'OTHER.md' }]);
  });

  test('words before a prompt stand in front of it', async () => {
    const { start, run, model, claude, file } = await sandbox({
      age,
      workflow: {
        'START.sh': 'until [ -e go ]; do sleep 0.05; done; echo "<goto>NEXT</goto>"',
        'NEXT.md': 'Finish.',
      },
      script: () => '<result>done</result>',
    });
    await allowBash(claude);
    const raymond = start('workflow', '--workflow-id', 'r');
    await until(() => existsSync(file('.raymond/runs/r')));
    expect((await run('say', 'r', WORDS)).stderr).toContain('It waits for the next prompt of main');
    await writeFile(file('go'), '');
    expect(await raymond.finished).toMatchObject({ code: 0 });
    expect(lastPrompt(model.requests[0])).toMatch(
      new RegExp(`^A person .*\n\n${WORDS}\n\n.*\n\nFinish\\.`),
    );
  });
});
