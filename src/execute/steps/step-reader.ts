/** Reads the records of steps: the conversation of a prompt, the output of a script. */
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { readIfSmallSync, readPartSync } from '../../files/regular-file.ts';
import { attempt } from '../../model/attempt.ts';
import { bounded } from '../../model/bounded-text.ts';
import { MOST_CHARACTERS, type StepMessage } from '../../model/conversation.ts';
import { STEP_FILES } from '../../model/step-files.ts';
import type {
  RunFolders,
  RunStore,
  StepKey,
  StepNews,
  StepReader,
  StepRecord,
} from '../../ports.ts';
import { follow } from '../process/index.ts';
import { type Raw, rawLocation, readKept, readKeptPart } from './step-folder.ts';

/** Translates the messages of an agent as they arrive. */
export interface ConversationReader {
  /** The messages that a piece of the output completes. */
  push(piece: Buffer | string): readonly StepMessage[];
  /** The text that the agent is writing now; empty if it writes none. */
  readonly partial: string;
  /** The turn has ended. */
  readonly isOver: boolean;
}

/** The facts about records that only the executor of an agent knows. */
export interface AgentRecords {
  /** Reads the turn of a step, which has begun. */
  conversation(folder: string): ConversationReader;
  /** Where the messages of a turn that is not over begin; undefined before it begins. */
  begun(folder: string): Omit<Raw, 'to'> | undefined;
}

interface StepReaderParts {
  readonly store: Pick<RunStore, 'records'>;
  readonly folders: (run: string) => Pick<RunFolders, 'step'>;
  readonly agent: AgentRecords;
}

export function stepReader({ store, folders, agent }: StepReaderParts): StepReader {
  const folderOf = (run: string, { agent: id, step }: StepKey) => folders(run).step(id, step);
  return {
    async read(run, step, kind) {
      const folder = folderOf(run, step);
      const record = kind === 'prompt' ? promptRecord(folder, agent) : scriptRecord(folder);
      if (record.messages.length > 0) return record;
      // Some executors keep only the answer, and of an old script only its output remains.
      const name = kind === 'prompt' ? STEP_FILES.answer.name : STEP_FILES.stdout.name;
      const kept = await store.records(run).read(step, name, MOST_BYTES);
      if (!kept) return record;
      const text = bounded(Buffer.from(kept).toString('utf8'), MOST_CHARACTERS);
      const message = { kind: kind === 'prompt' ? 'text' : 'stdout', ...text } as const;
      return { ...record, isKept: true, messages: text.text === '' ? [] : [message] };
    },
    follow(run, step, kind, more) {
      const folder = folderOf(run, step);
      return kind === 'prompt' ? followPrompt(folder, agent, more) : followScript(folder, more);
    },
  };
}

const MOST_BYTES = 32 * 1024 * 1024;

function promptRecord(folder: string, agent: AgentRecords): StepRecord {
  const told = toldIn(folder, STEP_FILES.prompt.name);
  const whole = rawLocation(folder);
  const place = whole ?? agent.begun(folder);
  if (!place) return { told, messages: [], omitted: 0, cursor: '0', isKept: existsSync(folder) };
  const end = whole?.to ?? attempt(() => statSync(place.file).size) ?? 0;
  // Of a very long turn, only its end.
  const from = Math.max(place.from, end - MOST_BYTES);
  const bytes = readKeptPart(place.file, from, end);
  const reader = agent.conversation(folder);
  const messages = [...reader.push(bytes), ...reader.push('\n')];
  const cursor = String(messages.length);
  return { told, ...newestOf(messages), cursor, isKept: bytes.length > 0 };
}

/** The newest messages that are together not too long. */
function newestOf(messages: readonly StepMessage[]) {
  let characters = 0;
  let first = messages.length;
  while (first > 0 && messages.length - first < MOST_MESSAGES) {
    const message = messages[first - 1];
    characters += message && 'text' in message ? message.text.length : 0;
    if (characters > MOST_IN_ALL) break;
    first -= 1;
  }
  return { messages: messages.slice(first), omitted: first };
}

const MOST_MESSAGES = 2_000;
const MOST_IN_ALL = 4_000_000;

function scriptRecord(folder: string): StepRecord {
  const stdout = outputIn(folder, STEP_FILES.stdout.name);
  const stderr = outputIn(folder, STEP_FILES.stderr.name);
  return {
    told: toldIn(folder, STEP_FILES.input.name),
    messages: [
      ...(stdout.text === '' ? [] : [{ kind: 'stdout', ...stdout } as const]),
      ...(stderr.text === '' ? [] : [{ kind: 'stderr', ...stderr } as const]),
    ],
    omitted: 0,
    cursor: String(Buffer.byteLength(stdout.text)),
    isKept: existsSync(folder),
  };
}

function toldIn(folder: string, name: string): string | undefined {
  return readKept(join(folder, name), MOST_TOLD_BYTES);
}

const MOST_TOLD_BYTES = 4 * 1024 * 1024;

/** The beginning of an output. The rest counts in bytes, because it is not read. */
function outputIn(folder: string, name: string) {
  try {
    const file = join(folder, name);
    const { size, bytes } = readIfSmallSync(file, MOST_OUTPUT_BYTES);
    const read = bytes ?? readPartSync(file, 0, MOST_OUTPUT_BYTES);
    const { text, omitted } = bounded(read.toString('utf8'), MOST_OUTPUT_BYTES);
    return { text, omitted: omitted + size - read.length };
  } catch {
    return { text: '', omitted: 0 };
  }
}

const MOST_OUTPUT_BYTES = 256 * 1024;

interface More {
  readonly after: string | undefined;
  readonly until: Promise<unknown>;
}

/** The cursor is the number of messages. */
async function* followPrompt(
  folder: string,
  agent: AgentRecords,
  { after, until }: More,
): AsyncGenerator<StepNews> {
  const place = await begunTurn(folder, agent, until);
  if (!place) return;
  const reader = agent.conversation(folder);
  const known = Number(after ?? 0);
  let count = 0;
  let partial = '';
  for await (const chunk of follow(place.file, { from: place.from, until })) {
    const messages = reader.push(chunk);
    const fresh = messages.slice(Math.max(0, known - count));
    count += messages.length;
    for (let at = 0; at < fresh.length; at += MOST_AT_ONCE) {
      const some = fresh.slice(at, at + MOST_AT_ONCE);
      const cursor = String(count - fresh.length + at + some.length);
      yield { kind: 'messages', cursor, messages: some };
    }
    if (reader.partial !== partial) {
      partial = reader.partial;
      yield { kind: 'partial', text: partial };
    }
    if (reader.isOver) return;
  }
}

const MOST_AT_ONCE = 100;

/** Waits until the turn has begun: a step may wait for a free process first. */
async function begunTurn(
  folder: string,
  agent: AgentRecords,
  until: Promise<unknown>,
): Promise<Omit<Raw, 'to'> | undefined> {
  return appearing(() => {
    const place = agent.begun(folder);
    return place && existsSync(place.file) ? place : undefined;
  }, until);
}

/** The value when it exists; undefined if `until` settles before. */
async function appearing<T>(
  look: () => T | undefined,
  until: Promise<unknown>,
): Promise<T | undefined> {
  let isOver = false;
  const end = () => {
    isOver = true;
  };
  const over = until.then(end, end);
  for (;;) {
    const found = look();
    if (found !== undefined || isOver) return found;
    await Promise.race([over, delay(LOOK_EVERY_MS)]);
  }
}

const LOOK_EVERY_MS = 200;

/** The cursor is the number of bytes. Only whole lines are shown, except at the end. */
async function* followScript(folder: string, { after, until }: More): AsyncGenerator<StepNews> {
  const stdout = join(folder, STEP_FILES.stdout.name);
  const file = await appearing(() => (existsSync(stdout) ? stdout : undefined), until);
  if (file === undefined) return;
  let at = Number(after ?? 0);
  let rest: Buffer = Buffer.alloc(0);
  for await (const chunk of follow(file, { from: at, until })) {
    const bytes = Buffer.concat([rest, chunk]);
    const end = bytes.length > MOST_OUTPUT_BYTES ? bytes.length : bytes.lastIndexOf(LINE_FEED) + 1;
    rest = bytes.subarray(end);
    if (end === 0) continue;
    at += end;
    const text = bounded(bytes.toString('utf8', 0, end), MOST_OUTPUT_BYTES);
    yield { kind: 'messages', cursor: String(at), messages: [{ kind: 'stdout', ...text }] };
  }
  const last = { kind: 'stdout', text: rest.toString('utf8'), omitted: 0 } as const;
  const errors = { kind: 'stderr', ...outputIn(folder, STEP_FILES.stderr.name) } as const;
  const messages = [last, errors].filter(({ text }) => text !== '');
  // One more than the bytes: the errors have no place in the output.
  if (messages.length > 0)
    yield { kind: 'messages', cursor: String(at + rest.length + 1), messages };
}

const LINE_FEED = 0x0a;
