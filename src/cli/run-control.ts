/** The acts of the commands, without a terminal. */
import { realpath } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { projectArea } from '../files/project-area.ts';
import { rewindRun } from '../host/rewind-run.ts';
import { checkRunId, newRunId } from '../journal/run-id.ts';
import { unreachable } from '../model/unreachable.ts';
import { UserError } from '../model/user-error.ts';
import type { RunControl } from '../ports.ts';
import type { StartOptions } from './commands/run.ts';
import { readConfiguration } from './configuration.ts';
import { died, refused, startDetached } from './detach.ts';
import type { DetachedCommand } from './detached-command.ts';
import { giveAnswer } from './give-answer.ts';
import { checkOffered, giveDecision } from './give-decision.ts';
import { optionsFrom } from './given-options.ts';
import { refuseInside } from './inside.ts';
import { openItem } from './open-items.ts';
import { questionsOf, requestsOf } from './questions.ts';
import { openRun } from './runs.ts';
import { stopRun } from './stop-run.ts';
import type { Surroundings } from './surroundings.ts';
import { homeFolder } from './user-folders.ts';
import { userName } from './user-name.ts';
import { looseLibrary, rewindPorts } from './wire.ts';

/** `unchangedSince`: only workflows that have not changed since then can be started. */
export function runControl(
  around: Surroundings,
  { unchangedSince }: Pick<StartOptions, 'unchangedSince'> = {},
): RunControl {
  const { store, cwd, project } = around;
  const optionsOf = (given: Parameters<RunControl['start']>[1], kind: DetachedCommand['kind']) =>
    optionsFrom(given, kind, dirname(project.folder));
  return {
    questions: (run) => questionsOf(store, run),
    requests: (run) => requestsOf(store, run),
    async start(path, given, wanted) {
      const options = optionsOf(given, 'run');
      // Before the load, because a caller must not learn what exists elsewhere.
      await refuseOutside(cwd, resolve(cwd, path));
      const config = await readConfiguration(project);
      const workflow = await looseLibrary(cwd, config.options).load(path);
      await refuseOutside(cwd, workflow.ref);
      const id = wanted === undefined ? newRunId(workflow.name) : checkRunId(wanted);
      if (!around.database) await around.makeProject();
      await begin(around, id, {
        kind: 'run',
        name: workflow.ref,
        options: { ...options, workflowId: id, unchangedSince },
      });
      return id;
    },
    async resume(id, given, { fresh, acceptChanges, trustRun }) {
      await openRun(store, id);
      await refuseInside(around, id, 'resume it');
      const options = {
        ...optionsOf(given, 'resume'),
        // Without these, the process would ask at its terminal, and it has none.
        ...{ fresh: fresh === true, acceptChanges: acceptChanges === true },
        trustRun: trustRun === true,
      };
      await begin(around, id, { kind: 'resume', name: id, options });
    },
    async stop(id, how) {
      const begun = await stopRun(around, id, how);
      if (begun.kind === 'left') return { isOver: true, wait: async () => 'stopped' };
      return { isOver: false, wait: begun.wait };
    },
    async answer(id, agent, text) {
      const found = await openRun(store, id);
      await refuseInside(around, id, 'answer its questions');
      const item = await openItem(store, found, { agent, by: 'text' });
      if (item.kind === 'asking') await giveAnswer(store, id, item, text);
      else await giveDecision(store, id, item, { decision: 'answer', text }, userName());
      return { agent: item.agent, isDelivered: found.owner !== undefined };
    },
    async decide(id, wanted, decision) {
      const found = await openRun(store, id);
      await refuseInside(around, id, 'decide about its requests');
      const item = await openItem(store, found, { ...wanted, by: 'decision' });
      if (item.kind !== 'request') throw new Error('Bug: a question is not a request');
      await giveDecision(store, id, item, checkOffered(id, item, decision), userName());
      const { agent, request } = item;
      return { agent, request, isDelivered: found.owner !== undefined };
    },
    async rewind(id, request, { files }) {
      await openRun(store, id);
      await refuseInside(around, id, 'rewind it');
      const { event } = await rewindRun(await rewindPorts(around, id), id, request, { files });
      return event;
    },
  };
}

async function begin(
  around: Surroundings,
  run: string,
  command: Omit<DetachedCommand, 'log'>,
): Promise<void> {
  if (around.database) return leaveToWorkers(around, command);
  const { word } = await startDetached(around, { run, command });
  switch (word.kind) {
    case 'began':
      return;
    case 'refused':
      throw refused(word);
    case 'over':
      // A completed run has nothing to continue.
      if (word.exitCode === 0) return;
      throw died(run, `exit code ${word.exitCode}`);
    case 'died':
      throw died(run, word.how);
    default:
      return unreachable(word);
  }
}

/** In a database, a run has begun when it is stored. */
async function leaveToWorkers(
  around: Surroundings,
  { kind, name, options }: Pick<DetachedCommand, 'kind' | 'name' | 'options'>,
): Promise<void> {
  const here = async () => around;
  const nothingMore = async () => 0;
  if (kind === 'run')
    await (await import('./commands/run.ts')).run(here, name, options, undefined, nothingMore);
  else
    await (await import('./commands/resume.ts')).resume(
      here,
      name,
      options,
      undefined,
      nothingMore,
    );
}

/** A workflow is code. A program may start what the project contains, and a person any other. */
async function refuseOutside(cwd: string, ref: string): Promise<void> {
  const area = await projectArea(cwd, homeFolder());
  const path = await realpath(ref).catch(() => ref);
  if (await area.holds(path)) return;
  throw new UserError(
    'outside-project',
    `The workflow ${ref} is not in this project.`,
    'Name a workflow inside the project, or start it on the command line.',
  );
}
