/** Questions and their deadlines, without a person at the terminal. */
import { describe, expect, test } from 'vitest';
import { command } from '../command.ts';
import { eventually } from '../eventually.ts';
import { newProject } from '../new-project.ts';
import { count, FLOWS, hasAsked, timed } from './asking.ts';

describe('a question without a deadline', () => {
  test('is answered, and the run is resumed', async () => {
    const project = newProject(FLOWS);
    const first = await command(project, ['ask', '--workflow-id', 'q']);
    expect(first).toMatchObject({ code: 2, stdout: '' });
    expect(first.stderr).toContain('raymond answer q "..."');
    const answer = await command(project, ['answer', 'q', 'blau & "grün"', '--json']);
    expect(JSON.parse(answer.stdout)).toEqual({ workflow_id: 'q', agent: 'main', answered: true });
    expect(await command(project, ['resume', 'q'])).toMatchObject({
      code: 0,
      stdout: 'blau & "grün"\n',
    });
  });

  test('is answered by resume --input; without an answer the run continues to wait', async () => {
    const project = newProject(FLOWS);
    await command(project, ['ask', '--workflow-id', 'q']);
    expect(await command(project, ['resume', 'q'])).toMatchObject({ code: 2 });
    expect(await command(project, ['resume', 'q', '--input', 'red'])).toMatchObject({
      code: 0,
      stdout: 'red\n',
    });
  });

  test('is skipped by resume --all until its answer exists', async () => {
    const project = newProject(FLOWS);
    await command(project, ['ask', '--workflow-id', 'q']);
    expect(await command(project, ['resume', '--all'])).toMatchObject({
      code: 0,
      stderr: 'There is nothing to resume.\n',
    });
    await command(project, ['answer', 'q', 'red']);
    expect(await command(project, ['resume', '--all'])).toMatchObject({ code: 0, stdout: 'red\n' });
  });
});

describe('a question with a deadline', () => {
  test('keeps its process until the deadline, and continues at timeout_next', async () => {
    const project = newProject(FLOWS);
    const { code, stdout, stderr } = await command(project, ['short', '--workflow-id', 'q']);
    expect({ code, stdout }).toEqual({ code: 0, stdout: 'late\n' });
    expect(stderr).toMatch(/main +waits for an answer: 0\.\d s left, until/);
    expect(count(project, 'q', 'run-ended')).toBe(1);
  });

  test('is answered while its process waits', async () => {
    const project = newProject(FLOWS);
    const life = project.start(['long', '--workflow-id', 'q']);
    await hasAsked(project, 'q');
    expect(await command(project, ['answer', 'q', 'red'])).toMatchObject({ code: 0 });
    expect(await life.ended).toMatchObject({ code: 0, stdout: 'red\n' });
  });

  test('ends its process immediately with --no-wait, and is checked at the next resume', async () => {
    const project = newProject(FLOWS);
    const first = await command(project, ['short', '--no-wait', '--workflow-id', 'q']);
    expect(first).toMatchObject({ code: 2, stdout: '' });
    expect(first.stderr).not.toContain('waits for an answer:');
    const [asked] = project.journal('q').filter((event) => event.type === 'agent-asked');
    const deadline = asked?.type === 'agent-asked' ? (asked.deadline ?? 0) : 0;
    await eventually('the time is over', () => Date.now() > deadline);
    expect(await command(project, ['resume', 'q'])).toMatchObject({ code: 0, stdout: 'late\n' });
  });

  test('after a kill, a resumed process waits; the deadline takes effect exactly once', async () => {
    const project = newProject({ ...FLOWS, 'short/START.sh': timed('4s') });
    const life = project.start(['short', '--workflow-id', 'q']);
    await eventually('it waits', () => life.stderr().includes('waits for an answer:'));
    life.child.kill('SIGKILL');
    await life.ended;
    expect(await command(project, ['resume', 'q'])).toMatchObject({ code: 0, stdout: 'late\n' });
    expect(count(project, 'q', 'question-timed-out')).toBe(1);
    expect(project.lines('late')).toHaveLength(1);
    expect(await command(project, ['resume', 'q'])).toMatchObject({ code: 0, stdout: 'late\n' });
    expect(count(project, 'q', 'question-timed-out')).toBe(1);
  });
});

describe('resume --all', () => {
  test('resumes each waiting run at its time, and no question delays another run', async () => {
    const project = newProject({ ...FLOWS, 'short/START.sh': timed('3s') });
    await command(project, ['ask', '--workflow-id', 'open']);
    for (const flow of ['long', 'short']) {
      const crashed = project.start([flow, '--workflow-id', flow]);
      await hasAsked(project, flow);
      crashed.child.kill('SIGKILL');
      await crashed.ended;
    }

    const all = project.start(['resume', '--all']);
    await eventually('the short wait is over', () => all.stdout() === 'late\n');
    await eventually('it waits for the other', () =>
      /Waiting for an answer: long until [^,]*\n$/.test(all.stderr()),
    );
    expect(await command(project, ['answer', 'long', 'red'])).toMatchObject({ code: 0 });
    expect(await all.ended).toMatchObject({ code: 0, stdout: 'late\nred\n' });
    expect(count(project, 'open', 'run-resumed')).toBe(0);
  });

  test('does not wait with --no-wait', async () => {
    const project = newProject(FLOWS);
    await command(project, ['long', '--workflow-id', 'q', '--no-wait']);
    expect(await command(project, ['resume', '--all', '--no-wait'])).toMatchObject({ code: 0 });
    expect(count(project, 'q', 'run-resumed')).toBe(0);
  });
});
