/** Informs the user of questions, permission requests, denials, failures, limits and ends: `--notify` and `on_event`. */
import { dirname, join } from 'node:path';
import { inheritedEnvironment } from '../execute/agents/environment.ts';
import { desktopNote } from '../execute/notices/desktop-note.ts';
import { SideCommands } from '../execute/notices/side-commands.ts';
import type { Alert, Attendant } from '../host/attendant.ts';
import type { NamedObserver } from '../host/observe-all.ts';
import type { Run } from '../model/run.ts';
import { visibleJson } from '../model/visible.ts';
import { deferred } from '../observe/deferred.ts';
import { type Notice, noticeObserver } from '../observe/notices.ts';
import { DAY_SECONDS, type RunOptions } from '../options/run-options.ts';
import { type AnswerCodes, CODE_PURPOSE, codesFor } from './answer-codes.ts';
import type { Surroundings } from './surroundings.ts';
import { type ChosenExecutors, platform } from './wire.ts';

export interface NoticeParts {
  readonly around: Surroundings;
  readonly executors: Pick<ChosenExecutors, 'processes' | 'rehearsal'>;
  readonly options: Pick<RunOptions, 'notify' | 'onEvent' | 'codeLifetime'>;
}

/** A rehearsal executes nothing, so it only rings the bell. */
export function notifiers(
  { id }: Run,
  parts: NoticeParts,
  { alert, warn }: Pick<Attendant, 'alert' | 'warn'>,
): readonly NamedObserver[] {
  const { around, executors, options } = parts;
  const { notify, onEvent, codeLifetime = DAY_SECONDS } = options;
  const side = (name: string, timeoutMs: number) =>
    new SideCommands({
      processes: executors.processes,
      folder: join(around.workspace(id).folder, 'notices', name),
      cwd: dirname(around.project.folder),
      env: inheritedEnvironment(process.env),
      timeoutMs,
    });
  const observers: NamedObserver[] = [];
  if (onEvent !== undefined && onEvent !== '' && !executors.rehearsal)
    observers.push([
      'on_event',
      observer(
        side('on_event', EVENT_TIMEOUT_MS),
        eventCommand(onEvent, warn, codesOf(around.key, codeLifetime * 1000)),
      ),
    ]);
  if (notify) {
    const isReal = executors.rehearsal === undefined;
    observers.push([
      '--notify',
      observer(side('notify', NOTE_TIMEOUT_MS), noteCommand(isReal, alert)),
    ]);
  }
  return observers;
}

const EVENT_TIMEOUT_MS = 60_000;
const NOTE_TIMEOUT_MS = 10_000;

type Give = (notice: Notice, side: SideCommands) => void;

function observer(side: SideCommands, give: Give) {
  const passed = deferred(noticeObserver((notice) => give(notice, side)));
  return { ...passed, close: () => side.close() };
}

type CodesOf = (notice: Notice) => Promise<AnswerCodes | undefined>;

/** Without the user's key there are no codes. */
function codesOf(key: Surroundings['key'], lifetimeMs: number): CodesOf {
  return async ({ run, event }) => {
    const codeKey = await key.derived(CODE_PURPOSE).catch(() => undefined);
    return codeKey && codesFor(codeKey, run, event, lifetimeMs);
  };
}

/**
 * Starts the command of the user with the event on its standard input: a pipe, because it may have codes that
 * no file may keep. Reports its first failure only.
 */
function eventCommand(command: string, warn: (text: string) => void, codes: CodesOf): Give {
  let hasFailed = false;
  return (notice, side) =>
    side.start({
      ...shellCommand(command),
      input: codes(notice).then((found) => `${visibleJson(noticeJson(notice, found))}\n`),
      ended(problem) {
        if (problem === undefined || hasFailed) return;
        hasFailed = true;
        warn(`The command of on_event failed: ${problem}. The run continues.`);
        warn(
          `Check it: on_event = ${JSON.stringify(command)}. Raymond does not report further failures of it.`,
        );
      },
    });
}

/** A notice for a program. */
export function noticeJson({ kind, text, event, run }: Notice, codes?: AnswerCodes) {
  const { id, workflow, cwd, seq } = run;
  return {
    ...{ notice: kind, workflow_id: id, workflow, cwd, text, event: { seq, ...event } },
    ...(codes && { codes: codes.codes, codes_expire_at: codes.expiresAt }),
  };
}

/** Its output is not kept: it could be of any size. */
function shellCommand(command: string) {
  if (platform === 'windows')
    return { command: 'cmd.exe', args: ['/d', '/s', '/c', `(${command}) >NUL 2>&1`] };
  return { command: '/bin/bash', args: ['-c', `exec >/dev/null 2>&1\n${command}`] };
}

/** If no desktop program shows a notification, the terminal may. */
function noteCommand(mayExecute: boolean, alert: Alert): Give {
  const program = mayExecute ? desktopNote(process.platform, process.env.PATH) : undefined;
  return ({ text }, side) => {
    alert.bell();
    if (!program) return alert.note(text);
    const ended = (problem: string | undefined) => {
      if (problem !== undefined) alert.note(text);
    };
    side.start({ ...program(text), input: '', ended });
  };
}
