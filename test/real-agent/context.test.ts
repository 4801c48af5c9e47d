// Checks what the model remembers after each tag.
import { mkdir } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { inSuite } from '../long.ts';
import { suiteAges } from './claude-sandbox.ts';
import { answering, conversationLines, sandboxes } from './raymond-sandbox.ts';

const sandbox = sandboxes();

describe.each(suiteAges)('with the %s Claude Code', (age) => {
  test.each(
    inSuite<{ how: string; flags: readonly string[] }>(
      [{ how: 'kept warm', flags: [] }],
      [{ how: 'one process per prompt', flags: ['--no-warm'] }],
    ),
  )(
    'a callee remembers its caller, but the caller does not remember the callee ($how)',
    async ({ flags }) => {
      const { run, model } = await sandbox({
        age,
        workflow: {
          'START.md': 'Do one.',
          'TWO.md': 'Do two.',
          'SUB.md': 'Look into it.',
          'MORE.md': 'Look deeper.',
          'BACK.md': 'It was {{result}}.',
          'FRESH.md': 'Think of {{input}}.',
          'END.md': 'And so {{result}}.',
        },
        script: answering({
          'Do one.': '<goto>TWO</goto>',
          'Do two.': '<call return="BACK">SUB</call>',
          'Look into it.': '<goto>MORE</goto>',
          'Look deeper.': '<result>a <b>"quoted"</b> 42</result>',
          'It was': '<function return="END" input="nothing">FRESH</function>',
          'Think of': '<result>an idea</result>',
          'And so': '<result>all done</result>',
        }),
      });
      const { code, stdout } = await run('workflow', ...flags);
      expect([code, stdout]).toEqual([0, 'all done\n']);
      const caller = [
        'user: Do one.',
        'assistant: <goto>TWO</goto>',
        'user: Do two.',
        'assistant: <call return="BACK">SUB</call>',
      ];
      const after = [...caller, 'user: It was a <b>"quoted"</b> 42.'];
      expect(model.requests.map(conversationLines)).toEqual([
        caller.slice(0, 1),
        caller.slice(0, 3),
        [...caller, 'user: Look into it.'],
        [...caller, 'user: Look into it.', 'assistant: <goto>MORE</goto>', 'user: Look deeper.'],
        after,
        ['user: Think of nothing.'],
        [
          ...after,
          'assistant: <function return="END" input="nothing">FRESH</function>',
          'user: And so an idea.',
        ],
      ]);
    },
  );

  test('reset forgets the session and can change the directory, and the caller continues where it was', async () => {
    const { run, model, file } = await sandbox({
      age,
      workflow: {
        'START.md': 'Do one.',
        'SUB.md': 'Go there.',
        'THERE.md': 'You are there.',
        'STILL.md': 'Still there.',
        'BACK.md': 'Home again with {{result}}.',
        'other/START.md': 'Another workflow.',
      },
      script: answering({
        'Do one.': '<call return="BACK">SUB</call>',
        'Go there.': '<reset cd="else where">THERE</reset>',
        'You are there.': '<goto>STILL</goto>',
        'Still there.': [
          '<call-workflow return="STILL">other</call-workflow>',
          '<result>news</result>',
        ],
        'Another workflow.': '<result>seen</result>',
        'Home again': '<result>all done</result>',
      }),
    });
    await mkdir(file('else where'));
    const workingDirectory = (n: number) =>
      /Primary working directory: (.*)/.exec(JSON.stringify(model.requests[n]))?.[1];
    expect(await run('workflow')).toMatchObject({ code: 0, stdout: 'all done\n' });
    const there = ['user: You are there.', 'assistant: <goto>STILL</goto>', 'user: Still there.'];
    const calling = 'assistant: <call-workflow return="STILL">other</call-workflow>';
    const caller = ['user: Do one.', 'assistant: <call return="BACK">SUB</call>'];
    expect(model.requests.map(conversationLines)).toEqual([
      ['user: Do one.'],
      [...caller, 'user: Go there.'],
      ['user: You are there.'],
      there,
      [...there, calling, 'user: Another workflow.'],
      [...there, calling, 'user: Still there.'],
      [...caller, 'user: Home again with news.'],
    ]);
    expect(workingDirectory(0)).not.toContain('else where');
    expect(workingDirectory(2)).toContain('else where');
    expect(workingDirectory(6)).not.toContain('else where');
  });

  test('forks begin without a history, and their parent continues', async () => {
    const { run, model } = await sandbox({
      age,
      workflow: {
        'START.md': 'Divide.',
        'WORK.md': 'Work on {{item}} as {{agent_id}}.',
        'REST.md': 'Rest.',
      },
      script: answering({
        'Divide.': '<fork item="a">WORK</fork><fork item="b">WORK</fork><goto>REST</goto>',
        'Work on': '<result>worked</result>',
        'Rest.': '<result>divided</result>',
      }),
    });
    expect(await run('workflow')).toMatchObject({ code: 0, stdout: 'divided\n' });
    const seen = model.requests.slice(1).map(conversationLines);
    const of = (prompt: string) => seen.filter((lines) => lines.at(-1)?.includes(prompt));
    expect(of('Work on').sort()).toEqual([
      ['user: Work on a as main_work1.'],
      ['user: Work on b as main_work2.'],
    ]);
    expect(of('Rest.')).toEqual([
      conversationLines(model.requests[0]).concat(
        'assistant: <fork item="a">WORK</fork><fork item="b">WORK</fork><goto>REST</goto>',
        'user: Rest.',
      ),
    ]);
  });
});
