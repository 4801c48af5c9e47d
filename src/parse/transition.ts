import type { JoinOf, JoinRest } from '../model/event.ts';
import { MOST_FILES } from '../model/kept-file.ts';
import type { Tag, TagName, TagReading } from '../model/tag.ts';
import type { Ask, Fork, JoinTag, Move, Transition } from '../model/transition.ts';
import { clip } from './clip.ts';
import { variableNameProblem, variableProblem } from './variables.ts';
import { baseProblem, worktreeNameProblem } from './worktree-names.ts';

/** The names of a tag's parts, and which are required. The form of every tag is defined here. */
interface TagRule {
  /** The meaning of the body; also the key under which a policy pins it. */
  readonly body: 'target' | 'path' | 'question' | 'payload';
  readonly required: readonly string[];
  readonly optional: readonly string[];
  /** Whether any further attribute is a variable of the child. */
  readonly variables: boolean;
  /** Whether attributes may make choices for the agent of the target state. */
  readonly choices: boolean;
}

export const TAG_RULES: Readonly<Record<TagName, TagRule>> = {
  goto: rule('target', [], ['input']),
  reset: rule('target', [], ['input', 'cd']),
  compact: rule('target', [], ['input']),
  call: rule('target', ['return'], ['input']),
  function: { ...rule('target', ['return'], ['input']), choices: true },
  fork: { ...rule('target', [], ['next', 'input', 'cd', 'worktree', 'base']), variables: true },
  join: rule('target', [], ['of', 'timeout', 'timeout_next', 'failed_next', 'rest']),
  ask: rule('question', ['next'], ['of', 'to', 'timeout', 'timeout_next', 'files', 'accept']),
  result: rule('payload', [], []),
  'call-workflow': rule('path', ['return'], ['input']),
  'function-workflow': { ...rule('path', ['return'], ['input', 'cd']), choices: true },
  'fork-workflow': {
    ...rule('path', [], ['next', 'input', 'cd', 'worktree', 'base']),
    variables: true,
  },
  'reset-workflow': rule('path', [], ['input', 'cd']),
};

/** The attributes that a tag may have. `choices` are those that make a choice for an agent. */
export function attributesOf(tag: TagName, choices: readonly string[]): readonly string[] {
  const { required, optional, choices: takesChoices } = TAG_RULES[tag];
  return [...required, ...optional, ...(takesChoices ? choices : [])];
}

/** Attributes whose value names a state. */
export const STATE_ATTRIBUTES: readonly string[] = [
  'return',
  'next',
  'timeout_next',
  'failed_next',
];

/**
 * Attributes that decide where an agent goes and what it waits for, with the value that applies when
 * a tag does not have them. Under a policy the author decides this, so a tag must have them exactly
 * as its entry does.
 */
export const DECIDING_ATTRIBUTES: ReadonlyMap<string, string> = new Map([
  ...STATE_ATTRIBUTES.map((name) => [name, ''] as const),
  ['timeout', ''],
  ['of', 'all'],
  ['rest', 'stop'],
  ['to', ''],
  ['accept', ''],
]);

type Read<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly kind: MoveProblem; readonly message: string };

type MoveProblem = 'no-transition' | 'several-transitions' | 'bad-transition';

/**
 * Who wrote a tag. The variables of an author reach programs, so a name that steers programs is
 * refused. An agent may use such a name for a value, which then reaches only templates.
 */
export type Writer = 'author' | 'agent';

/** One transition, or several forks with one transition for the parent. */
export function readMove(
  reading: TagReading,
  choices: readonly string[],
  by: Writer = 'author',
): Read<Move> {
  const bad = reading.bad[0];
  if (bad) return wrong(bad.problem);
  if (reading.tags.length === 0) {
    const { near } = reading;
    return problem('no-transition', `There is no transition tag.${near ? ` ${near}` : ''}`);
  }

  const forks: Fork[] = [];
  const others: Move['own'][] = [];
  for (const tag of reading.tags) {
    const read = readTransition(tag, choices, by);
    if (!read.ok) return read;
    if (isFork(read.value)) forks.push(read.value);
    else others.push(read.value);
  }
  return forks.length > 0 ? readForks(forks, others) : readSingle(others);
}

export function readTransition(
  tag: Tag,
  choices: readonly string[],
  by: Writer = 'author',
): Read<Transition> {
  const found = formProblem(tag, choices, by);
  return found ? wrong(`<${tag.name}>: ${found}`) : toTransition(tag, choices);
}

/** Writes a tag as an agent must write it. */
export function writeTag(tag: Tag): string {
  const attributes = Object.entries(tag.attributes).map(
    ([name, value]) => ` ${name}="${encode(value)}"`,
  );
  return `<${tag.name}${attributes.join('')}>${tag.body}</${tag.name}>`;
}

/** Why a text cannot name a state. */
export function stateNameProblem(name: string): string | undefined {
  if (name === '') return 'the name of a state is missing';
  if (/[/\\]/.test(name))
    return `"${clip(name)}" is a path: name a state of this workflow, without / and \\`;
  if (name.includes('\0')) return 'a state name must not contain a NUL character';
  if (name === '.' || name === '..') return `"${name}" does not name a state`;
  if (name.length > LONGEST_NAME)
    return `"${clip(name)}" is longer than a file name can be (${LONGEST_NAME} characters)`;
  return undefined;
}

const LONGEST_NAME = 255;

/** Reads "90", "90s", "15m", "24h" or "7d" as ms. */
export function readDuration(text: string): number | undefined {
  const match = /^(\d{1,9}(?:\.\d{1,3})?)\s*(s|m|h|d)?$/.exec(text.trim());
  if (!match) return undefined;
  const unit = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }[match[2] ?? 's'] ?? 0;
  const ms = Math.round(Number(match[1]) * unit);
  return ms <= LONGEST_DURATION_MS ? ms : undefined;
}

/** A hundred years. A time plus a duration must still be a valid time. */
const LONGEST_DURATION_MS = 36_525 * 86_400_000;

export function isFork(transition: Transition): transition is Fork {
  return transition.tag === 'fork' || transition.tag === 'fork-workflow';
}

function rule(
  body: TagRule['body'],
  required: readonly string[],
  optional: readonly string[],
): TagRule {
  return { body, required, optional, variables: false, choices: false };
}

function readSingle(transitions: readonly Move['own'][]): Read<Move> {
  const [own, ...more] = transitions;
  if (!own) return problem('no-transition', 'There is no transition tag.');
  if (more.length > 0) {
    const names = transitions.map((t) => `<${t.tag}>`).join(', ');
    return problem(
      'several-transitions',
      `There are ${transitions.length} transition tags (${names}); there must be exactly one.`,
    );
  }
  return { ok: true, value: { forks: [], own } };
}

function readForks(forks: readonly Fork[], others: readonly Move['own'][]): Read<Move> {
  const nexts = [...new Set(forks.flatMap((fork) => (fork.next === undefined ? [] : [fork.next])))];
  const [own, ...more] = others;
  if (more.length > 0 || (own && own.tag !== 'goto' && own.tag !== 'join')) {
    const names = others.map((t) => `<${t.tag}>`).join(', ');
    return problem(
      'several-transitions',
      `Besides forks, only one <goto> or one <join> is allowed, but there is ${names}.`,
    );
  }
  if (own && nexts.length > 0) {
    return problem(
      'several-transitions',
      `The forks have a next, and there is also a <${own.tag}>. Keep one of them.`,
    );
  }
  if (own) return { ok: true, value: { forks, own } };
  const [next, ...otherNexts] = nexts;
  if (next === undefined) {
    return wrong(
      '<fork>: the attribute next is missing: it names the state at which the parent continues. To wait for the child agents, write a <join> beside the fork',
    );
  }
  if (otherNexts.length > 0) {
    return wrong(
      `<fork>: the forks disagree on next (${nexts.join(', ')}): the parent can continue at one state only`,
    );
  }
  return { ok: true, value: { forks, own: { tag: 'goto', target: next } } };
}

function formProblem(tag: Tag, choices: readonly string[], by: Writer): string | undefined {
  const { body, required, variables } = TAG_RULES[tag.name];
  const attributes = attributesOf(tag.name, choices);
  if (tag.body.length > LONGEST) return tooLong(body);
  for (const name of required) {
    if (!Object.hasOwn(tag.attributes, name)) return `the attribute ${name} is missing`;
  }
  for (const [name, value] of Object.entries(tag.attributes)) {
    const known = attributes.includes(name);
    if (!known && !variables) return unknownAttribute(name, attributes);
    const isChoice = known && choices.includes(name);
    const found = isChoice
      ? choiceProblem(name, value)
      : known
        ? attributeProblem(name, value)
        : by === 'author'
          ? variableProblem(name)
          : variableNameProblem(name);
    if (found) return found;
    if (!known && value.includes('\0')) return `${name} must not contain a NUL character`;
  }
  if (variables && 'base' in tag.attributes && !('worktree' in tag.attributes)) {
    return 'base belongs to worktree: it names the commit from which the worktree starts';
  }
  if (body === 'path' && tag.body.trim() === '') return 'the path of a workflow is missing';
  if (body === 'path' && tag.body.includes('\0')) return 'a path must not contain a NUL character';
  if (body === 'question' && tag.body.trim() === '') return 'the question is missing';
  if (body === 'question') {
    const found = approvalProblem(tag.attributes);
    if (found) return found;
  }
  const hasDeadline = attributes.includes('timeout_next');
  if (hasDeadline && 'timeout' in tag.attributes !== 'timeout_next' in tag.attributes) {
    return 'timeout and timeout_next belong together: write both or neither';
  }
  return body === 'target' ? stateNameProblem(tag.body.trim()) : undefined;
}

/** A question to people who sign: how many of them, and on which list they are. */
function approvalProblem({ of, to }: Tag['attributes']): string | undefined {
  if (to === undefined)
    return of === undefined ? undefined : 'of belongs to to: it says how many people must sign';
  if (!/^[A-Za-z0-9][\w-]{0,63}$/.test(to.trim()))
    return `to is "${clip(to)}": name a list of approvers with letters, digits, - and _`;
  if (of === undefined || /^[1-9]\d?$/.test(of.trim())) return undefined;
  return `of is "${clip(of)}": write how many people must sign, from 1 to 99`;
}

/** The paths of the files that a question shows. */
export function pathsIn(files: string): readonly string[] {
  return files.split(',').map((path) => path.trim());
}

function filesProblem(value: string): string | undefined {
  const paths = pathsIn(value);
  if (paths.includes(''))
    return 'files has an empty name: write paths with a comma between them, like report.md,plot.png';
  if (paths.length > MOST_FILES)
    return `files names ${paths.length} files: a question shows at most ${MOST_FILES}`;
  if (new Set(paths).size < paths.length) return 'files names a file twice';
  const odd = paths.find((path) => path.length > LONGEST_PATH || /[\p{C}\p{Zl}\p{Zp}]/u.test(path));
  if (odd !== undefined)
    return 'files has a name with control characters, or one that is too long: rename the file';
  return undefined;
}

const LONGEST_PATH = 1_000;

function unknownAttribute(name: string, known: readonly string[]): string {
  if (name === 'cd')
    return 'cd is not allowed here: only a reset, a fork or another workflow can change the directory';
  if (name === 'worktree' || name === 'base')
    return `${name} is not allowed here: only a fork has a worktree`;
  return `there is no attribute ${name}${known.length > 0 ? ` (allowed: ${known.join(', ')})` : ''}`;
}

/** A journal line can hold several of these, and no prompt is that long. */
const LONGEST = 8 * 1024 * 1024;

function tooLong(part: string): string {
  return `the ${part} has more than 8 million characters: write it to a file, and pass the name of the file`;
}

function attributeProblem(name: string, value: string): string | undefined {
  if (value.length > LONGEST) return tooLong(name);
  if (STATE_ATTRIBUTES.includes(name)) return stateNameProblem(value.trim());
  if (name === 'cd' && value.trim() === '') return 'cd is empty: name a directory';
  if (name === 'cd' && value.includes('\0')) return 'cd must not contain a NUL character';
  if (name === 'worktree') return worktreeNameProblem(value);
  if (name === 'base') return baseProblem(value);
  if (name === 'timeout' && readDuration(value) === undefined) {
    return `timeout is "${clip(value)}": write a number with s, m, h or d, like 24h`;
  }
  if (name === 'of' && readOf(value) === undefined) {
    return `of is "${clip(value)}": write all, any, or a number of child agents, at least 1`;
  }
  if (name === 'files') return filesProblem(value);
  if (name === 'accept' && !/^\s*[a-z0-9]{1,10}(?:\s*,\s*[a-z0-9]{1,10}){0,19}\s*$/.test(value)) {
    return `accept is "${clip(value)}": write the endings of the files that may come with an answer, like pdf,png`;
  }
  if (name === 'rest' && readRest(value) === undefined) {
    return `rest is "${clip(value)}": write stop or continue`;
  }
  return undefined;
}

/**
 * A value must be one word that the agent cannot read as an option. Only the executor knows its
 * meaning.
 */
function choiceProblem(name: string, value: string): string | undefined {
  if (value.length > LONGEST) return tooLong(name);
  return /^[A-Za-z0-9][\w.[\]-]*$/.test(value) ? undefined : `"${clip(value)}" cannot be a ${name}`;
}

const OPTIONS = ['input', 'cd', 'worktree', 'base'] as const;

function toTransition(tag: Tag, choices: readonly string[]): Read<Transition> {
  const { attributes: given } = tag;
  const target = tag.body.trim();
  const optional = pick(
    given,
    OPTIONS.filter((name) => TAG_RULES[tag.name].optional.includes(name)),
  );
  const chosen = Object.fromEntries(
    Object.entries(given).filter(([name]) => choices.includes(name)),
  );
  const back = given.return?.trim() ?? '';
  switch (tag.name) {
    case 'goto':
    case 'reset':
    case 'compact':
      return right({ tag: tag.name, target, ...optional });
    case 'call':
      return right({ tag: tag.name, target, return: back, ...optional });
    case 'function':
      return right({ tag: tag.name, target, return: back, ...optional, choices: chosen });
    case 'call-workflow':
      return right({ tag: tag.name, path: target, return: back, ...optional });
    case 'function-workflow':
      return right({ tag: tag.name, path: target, return: back, ...optional, choices: chosen });
    case 'reset-workflow':
      return right({ tag: tag.name, path: target, ...optional });
    case 'fork':
      return right({ tag: tag.name, target, ...forkParts(tag), ...optional });
    case 'fork-workflow':
      return right({ tag: tag.name, path: target, ...forkParts(tag), ...optional });
    case 'join':
      return right(toJoin(tag));
    case 'ask':
      return right(toAsk(tag));
    case 'result':
      return right({ tag: tag.name, payload: tag.body });
  }
}

function forkParts({ name, attributes }: Tag): {
  variables: Record<string, string>;
  next?: string;
} {
  const { optional } = TAG_RULES[name];
  const variables = Object.fromEntries(
    Object.entries(attributes).filter(([attribute]) => !optional.includes(attribute)),
  );
  return attributes.next === undefined
    ? { variables }
    : { variables, next: attributes.next.trim() };
}

function toAsk({ attributes, body }: Tag): Ask {
  const question = {
    tag: 'ask',
    question: body.trim(),
    next: attributes.next?.trim() ?? '',
  } as const;
  const { of = '1', to, files, accept } = attributes;
  const approval = to === undefined ? {} : { approval: { of: Number(of.trim()), to: to.trim() } };
  const shown = files === undefined ? {} : { files: pathsIn(files) };
  const taken = accept === undefined ? {} : { accept: pathsIn(accept) };
  return { ...question, ...approval, ...shown, ...taken, ...deadlineIn(attributes) };
}

function toJoin({ attributes, body }: Tag): JoinTag {
  const failedNext = attributes.failed_next?.trim();
  const rest = attributes.rest === undefined ? undefined : readRest(attributes.rest);
  return {
    tag: 'join',
    target: body.trim(),
    of: readOf(attributes.of ?? '') ?? 'all',
    ...deadlineIn(attributes),
    ...(failedNext !== undefined && { failedNext }),
    ...(rest !== undefined && { rest }),
  };
}

/** The deadline of a question or a join. */
function deadlineIn({ timeout, timeout_next }: Tag['attributes']): {
  timeoutMs?: number;
  timeoutNext?: string;
} {
  const timeoutMs = timeout === undefined ? undefined : readDuration(timeout);
  if (timeoutMs === undefined || timeout_next === undefined) return {};
  return { timeoutMs, timeoutNext: timeout_next.trim() };
}

function readOf(text: string): JoinOf | undefined {
  const written = text.trim();
  if (written === 'all' || written === 'any') return written;
  return /^[1-9]\d{0,8}$/.test(written) ? Number(written) : undefined;
}

function readRest(text: string): JoinRest | undefined {
  const written = text.trim();
  return written === 'stop' || written === 'continue' ? written : undefined;
}

function pick<K extends string>(
  from: Readonly<Record<string, string>>,
  keys: readonly K[],
): { [P in K]?: string } {
  const picked: { [P in K]?: string } = {};
  for (const key of keys) if (from[key] !== undefined) picked[key] = from[key];
  return picked;
}

function encode(value: string): string {
  return value.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
}

function right<T>(value: T): Read<T> {
  return { ok: true, value };
}

function wrong(message: string): { ok: false; kind: MoveProblem; message: string } {
  return problem('bad-transition', message);
}

function problem(
  kind: MoveProblem,
  message: string,
): { ok: false; kind: MoveProblem; message: string } {
  return { ok: false, kind, message };
}
