// Editors drive workflows through `raymond acp`, with the client of the protocol's own library.
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { methods } from '@agentclientprotocol/sdk';
import { expect, test } from 'vitest';
import { command } from '../command.ts';
import { eventually } from '../eventually.ts';
import { newProject } from '../new-project.ts';
import { acpEditor } from './acp-editor.ts';

const FLOW = {
  'flow ü/START.sh':
    'raymond tag ask "Which way, $RAYMOND_INPUT?" -a next=WORK 2>/dev/null || echo "<ask next=\'WORK\'>Which way, $RAYMOND_INPUT?</ask>"',
  'flow ü/WORK.sh': 'echo "<result>went $RAYMOND_INPUT 🙂</result>"',
  'echo/START.sh': 'echo "<goto input=\'$RAYMOND_INPUT\'>END</goto>"',
  'echo/END.sh': 'echo "<result>said $RAYMOND_INPUT</result>"',
};

test('a prompt starts the workflow, a question ends the turn, and the next prompt answers it', async () => {
  const project = newProject(FLOW);
  const editor = await acpEditor(project, ['flow ü']);
  const { sessionId, modes } = await editor.newSession();
  expect(modes).toEqual([]);
  expect(await editor.prompt(sessionId, 'Ada')).toBe('end_turn');
  expect(editor.said()).toContain('main asks:\n\nWhich way, Ada?');
  // It is an ordinary run, with the id of the session.
  expect((await command(project, ['list'])).stdout).toContain(sessionId);
  expect(await editor.prompt(sessionId, 'left')).toBe('end_turn');
  expect(editor.said()).toContain('went left 🙂');
  const calls = editor.updates.filter(({ sessionUpdate }) => sessionUpdate === 'tool_call');
  expect(calls).toMatchObject([
    { title: 'START.sh (main)', kind: 'execute' },
    { title: 'WORK.sh (main)', kind: 'execute' },
  ]);
  expect((await command(project, ['show', sessionId])).stdout).toContain('completed');
  // After the end, a prompt begins the next run of the session.
  expect(await editor.prompt(sessionId, 'Grace')).toBe('end_turn');
  expect(editor.said()).toContain('Which way, Grace?');
  expect((await command(project, ['list'])).stdout).toContain(`${sessionId}-2`);
  await editor.cancel(sessionId);
  expect(editor.errors()).toBe('');
});

test('the workflow is the mode of the session, or the first word of the prompt', async () => {
  const project = newProject(FLOW);
  const editor = await acpEditor(project);
  const { sessionId, modes } = await editor.newSession();
  expect(modes).toEqual(['echo', 'flow ü']);
  expect(await editor.prompt(sessionId, 'one')).toBe('end_turn');
  expect(editor.said()).toContain('said one');
  await editor.agent.request(methods.agent.session.setMode, { sessionId, modeId: 'flow ü' });
  expect(await editor.prompt(sessionId, '/echo two words')).toBe('end_turn');
  expect(editor.said()).toContain('said two words');
  expect(await editor.prompt(sessionId, 'Ada')).toBe('end_turn');
  expect(editor.said()).toContain('Which way, Ada?');
});

test('a later editor loads a session, and its prompt continues the run', async () => {
  const project = newProject(FLOW);
  const first = await acpEditor(project, ['flow ü']);
  const { sessionId } = await first.newSession();
  await first.prompt(sessionId, 'Ada');
  const ended = once(first.process, 'close');
  first.process.stdin?.end();
  expect(await ended).toEqual([0, null]);
  // The process of the run does not wait for the editor. A person may stop it meanwhile.
  await command(project, ['stop', sessionId]);

  const second = await acpEditor(project, ['flow ü']);
  const load = { sessionId, cwd: project.folder, mcpServers: [] };
  await second.agent.request(methods.agent.session.load, load);
  expect(second.updates).not.toEqual([]);
  expect(await second.prompt(sessionId, 'right')).toBe('end_turn');
  expect(second.said()).toContain('went right 🙂');
  await expect(
    second.agent.request(methods.agent.session.load, { ...load, sessionId: 'acp-nothing' }),
  ).rejects.toThrow(/There is no run acp-nothing/);
});

test('cancel stops the run, and the next prompt resumes it', async () => {
  const project = newProject({
    'flow/START.sh':
      'touch started; while [ ! -e go ]; do sleep 0.05; done; echo "<result>went on</result>"',
  });
  const editor = await acpEditor(project, ['flow']);
  const { sessionId } = await editor.newSession();
  const turn = editor.prompt(sessionId, 'x');
  await eventually('the script to start', () => existsSync(project.path('started')));
  await editor.cancel(sessionId);
  expect(await turn).toBe('cancelled');
  project.write('go', '');
  expect(await editor.prompt(sessionId, 'continue')).toBe('end_turn');
  expect(editor.said()).toContain('went on');
});

test('an editor that dies during a turn ends nothing but its own server', async () => {
  const project = newProject({
    'flow/START.sh':
      'touch started; while [ ! -e go ]; do sleep 0.05; done; echo "<result>went on</result>"',
  });
  const editor = await acpEditor(project, ['flow']);
  const { sessionId } = await editor.newSession();
  editor.prompt(sessionId, 'x').catch(() => {});
  await eventually('the script to start', () => existsSync(project.path('started')));
  await expect(editor.prompt(sessionId, 'again')).rejects.toThrow(/has a prompt already/);
  const ended = once(editor.process, 'close');
  editor.process.stdin?.destroy();
  expect(await ended).toEqual([0, null]);
  expect(editor.errors()).toBe('');
  project.write('go', '');
  await eventually('the end of the run', async () => {
    const { stdout } = await command(project, ['show', sessionId]);
    return stdout.includes('completed') && stdout.includes('went on');
  });
});

test('a failure is said, and a mistake is an error with its remedy', async () => {
  const project = newProject({
    ...FLOW,
    'bad/START.sh': 'exit 3',
    'worse/START.md': '<goto>NOWHERE</goto>',
  });
  const editor = await acpEditor(project);
  const { sessionId } = await editor.newSession();
  expect(await editor.prompt(sessionId, '/bad x')).toBe('end_turn');
  expect(editor.said()).toMatch(/exit.*3|3.*exit/i);
  const other = (await editor.newSession()).sessionId;
  await expect(editor.prompt(other, '/nowhere x')).rejects.toThrow(/no workflow at nowhere/i);
  await expect(editor.prompt(other, '/worse x')).rejects.toThrow(/NOWHERE/);
  await expect(editor.prompt(other, '/../outside x')).rejects.toThrow(/not in this project/);
  await expect(editor.prompt('nothing', 'x')).rejects.toThrow(/no session nothing/);
});

test('garbage on standard input is no crash', async () => {
  const project = newProject(FLOW);
  const { code, stderr } = await project.run(['acp'], { input: 'no json\n{"jsonrpc":"2.0"}\n' });
  expect(code).toBe(0);
  expect(stderr).not.toMatch(/^\s+at /m);
});
