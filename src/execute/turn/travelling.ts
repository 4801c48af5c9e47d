/**
 * INV-36: A step continues a session from the state that the run has stored, wherever that was. A turn
 * that the run did not accept is never part of a history.
 *
 * Executors whose sessions travel. Before a step, the session that it needs is brought here, unless this
 * machine has exactly the stored one. After the step, its session is packed. A note on this machine says
 * which content it has.
 */
import { createHash } from 'node:crypto';
import * as z from 'zod/mini';
import type {
  CarriedSessions,
  Executor,
  Executors,
  PromptStep,
  SecretValues,
  StepOutcome,
  UsedBy,
} from '../../ports.ts';
import { type KeptNotes, keptNotes, sourceOf } from '../steps/kept-notes.ts';
import type { StepSeals } from '../steps/step-seals.ts';
import { after, ended, failed } from './outcomes.ts';

interface SessionsOfRun {
  readonly sessions: CarriedSessions;
  readonly seals: StepSeals;
  /** For the notes of this machine. */
  readonly folder: string;
}

export function travellingExecutors<E extends Executors>(executors: E, ofRun: SessionsOfRun): E {
  const here = keptNotes(ofRun.seals, ofRun.folder, noteSchema, 'here-');
  const travelling = (executor: Executor) =>
    travellingExecutor(executor, ofRun.sessions, here, secrets);
  const { prompt, secrets } = executors;
  return {
    ...executors,
    prompt:
      'start' in prompt
        ? travelling(prompt)
        : new Map([...prompt].map(([name, executor]) => [name, travelling(executor)])),
  };
}

/** The content of a session on this machine. */
const noteSchema = z.object({ sha256: z.string() });
type Here = KeptNotes<z.infer<typeof noteSchema>>;

function travellingExecutor(
  executor: Executor,
  sessions: CarriedSessions,
  here: Here,
  secrets: SecretValues | undefined,
): Executor {
  const bring = (step: PromptStep) => bringSession(executor, sessions, here, step);
  const packed = async (step: PromptStep, outcome: Promise<StepOutcome>) => {
    const how = await outcome;
    const clean = (bytes: Uint8Array) =>
      secrets ? secrets.clean(step.rights?.secrets ?? [], bytes) : bytes;
    await keepSession(executor, sessions, here, { ...step, clean }, how);
    return how;
  };
  return {
    ...executor,
    start: (step, live, ask) =>
      step.kind === 'prompt'
        ? after(bring(step), (problem) => {
            if (problem !== undefined)
              return ended(failed({ kind: 'session-gone', message: problem }));
            const running = executor.start(step, live, ask);
            return { ...running, outcome: packed(step, running.outcome) };
          })
        : executor.start(step, live, ask),
    adopt(step, live, ask) {
      const running = executor.adopt(step, live, ask);
      return step.kind === 'prompt'
        ? { ...running, outcome: packed(step, running.outcome) }
        : running;
    },
  };
}

/** Resolves with what prevents it, if anything does. */
async function bringSession(
  { name, travel }: Executor,
  sessions: CarriedSessions,
  here: Here,
  { session, cwd, previousFolder }: PromptStep,
): Promise<string | undefined> {
  if (session.use === 'fresh') return undefined;
  const source = sourceOf(session);
  const stored = await sessions.newest(source);
  if (!stored || stored.sha256 === here.read(source)?.sha256) return undefined;
  const content = await stored.content();
  if (!travel || content.length === 0 || stored.executor !== name) return lost(stored.executor);
  if (sha256Of(content) !== stored.sha256)
    throw new Error(`The stored session ${source} is damaged.`);
  const earlier = session.use === 'continue' ? previousFolder : undefined;
  await travel.unpack(source, content, { cwd, previousFolder: earlier });
  here.write(source, { sha256: stored.sha256 });
  return undefined;
}

const lost = (executor: string) =>
  `The session is on another machine, and ${executor} could not take it along. Resume with --fresh to begin the state in a new session.`;

/**
 * A step that did not begin leaves its session as it was. The note is written before the run accepts
 * the step. If it does not, the stored content differs from the note, and replaces the session.
 */
async function keepSession(
  { name, travel }: Executor,
  sessions: CarriedSessions,
  here: Here,
  step: PromptStep & Pick<UsedBy, 'clean'>,
  { kind, account }: StepOutcome,
): Promise<void> {
  const session = account.session?.id;
  if (session === undefined) return;
  const after = { ...step, isAnswered: kind === 'answered' };
  const content = (await travel?.pack(session, after).catch(() => undefined)) ?? NOTHING;
  // Without content, the machine that has the session recognises it by this.
  const sha256 = content.length === 0 ? sha256Of(Buffer.from(nameOf(step))) : sha256Of(content);
  here.write(session, { sha256 });
  if (session !== step.session.id) here.write(step.session.id, { sha256 });
  sessions.keep(
    { agent: step.agent, step: step.number },
    { session, executor: name, sha256, content },
  );
}

const NOTHING = new Uint8Array();
const nameOf = ({ run, agent, number, attempt }: PromptStep) =>
  JSON.stringify([process.pid, Date.now(), run, agent, number, attempt]);

function sha256Of(content: Uint8Array): string {
  return createHash('sha256').update(content).digest('hex');
}
