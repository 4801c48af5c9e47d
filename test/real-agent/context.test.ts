// What the model remembers after each tag: the reason for which people use Raymond.
import { afterEach, describe, expect, test } from 'vitest';
import { ages } from './claude-sandbox.ts';
import { history, type ModelRequest } from './model-request.ts';
import { type RaymondSandbox, type RaymondWorld, raymondSandbox } from './raymond-sandbox.ts';

let open: RaymondSandbox[] = [];
afterEach(async () => {
  await Promise.all(open.map((sandbox) => sandbox.remove()));
  open = [];
});

async function sandbox(world: RaymondWorld): Promise<RaymondSandbox> {
  const made = await raymondSandbox(world);
  open.push(made);
  return made;
}

/** Answers each state by the prompt that it was asked with. */
const answering = (answers: Readonly<Record<string, string>>) => (request: ModelRequest) => {
  const asked =
    history(request)
      .filter(({ role }) => role === 'user')
      .at(-1)?.text ?? '';
  const answer = Object.entries(answers).find(([prompt]) => asked.includes(prompt))?.[1];
  if (answer === undefined) throw new Error(`Nothing is scripted for: ${asked}`);
  return answer;
};

const said = (request: ModelRequest) =>
  history(request).map(({ role, text }) => `${role}: ${text}`);

describe.each(ages)('with the %s Claude Code', (age) => {
  test('goto keeps the memory, reset loses it', async () => {
    const { run, model } = await sandbox({
      age,
      workflow: { 'START.md': 'Do one.', 'TWO.md': 'Do two.', 'THREE.md': 'Do three.' },
      script: answering({
        'Do one.': '<goto>TWO</goto>',
        'Do two.': '<reset>THREE</reset>',
        'Do three.': '<result>all done</result>',
      }),
    });
    const { code, stdout, stderr } = await run('workflow');
    expect(stderr).toContain('completed');
    expect([code, stdout]).toEqual([0, 'all done\n']);
    expect(model.requests.map(said)).toEqual([
      ['user: Do one.'],
      ['user: Do one.', 'assistant: <goto>TWO</goto>', 'user: Do two.'],
      ['user: Do three.'],
    ]);
  });
});
