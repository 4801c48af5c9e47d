// Reads the standard output of Claude Code. Versions differ in the order of keys and in additional
// fields, so every field is optional and nothing unknown is an error. Only the current line is kept
// in memory.
import { parsed } from '../../model/attempt.ts';
import { epochMs } from '../agents/reset-time.ts';
import { type Fields, fields, list, number, text } from '../json.ts';
import { lineReader } from '../lines.ts';

export type Happening =
  | {
      readonly kind: 'init';
      readonly model: string;
      readonly version: string;
      /** The folder in which it keeps the transcripts for its directory, if it reports one. */
      readonly transcripts?: string;
    }
  /** A message begins or continues. It is from the model, or a synthetic one from Claude Code. */
  | { readonly kind: 'message'; readonly id: string; readonly isSynthetic: boolean }
  /** A message that Raymond has sent is in the conversation now. */
  | { readonly kind: 'heard'; readonly uuid: string }
  /** The model got input: a tool's result, or a text of Claude Code itself. */
  | { readonly kind: 'input' }
  /** These tool calls, also of subagents, have their results. */
  | {
      readonly kind: 'tool-results';
      readonly calls: readonly string[];
      /** Those that a rule has refused. Older versions do not list them in the result. */
      readonly refused: readonly string[];
    }
  /** The history can be cut off here: no tool call waits for its result. */
  | { readonly kind: 'checkpoint'; readonly uuid: string }
  /** Belongs to the last `message`. */
  | { readonly kind: 'text'; readonly text: string }
  | {
      readonly kind: 'tool-use';
      readonly name: string;
      readonly summary: string;
      readonly call: string;
    }
  | { readonly kind: 'permission-denied'; readonly tool: string }
  | { readonly kind: 'api-error'; readonly error: string }
  | { readonly kind: 'api-retry'; readonly status?: number }
  | { readonly kind: 'rate-limit'; readonly rejected: boolean; readonly resetsAt?: number }
  | ({ readonly kind: 'spent' } & Spending)
  /** The newest message is complete, and has this number of tokens. */
  | { readonly kind: 'spent-output'; readonly tokens: number }
  /** The newest message has grown by this number of characters. */
  | { readonly kind: 'written'; readonly characters: number }
  /** A tool call waits for the decision of a person. */
  | {
      readonly kind: 'permission-asked';
      readonly request: string;
      readonly tool: string;
      readonly summary: string;
      readonly input: Fields;
      /** The id of the tool call. */
      readonly call: string;
      readonly suggestions: readonly Suggestion[];
    }
  | { readonly kind: 'permission-cancelled'; readonly request: string }
  | { readonly kind: 'control'; readonly request: string; readonly error?: string }
  | Result;

/** A change with which Claude Code would allow the like of a call. Other fields are kept. */
export interface Suggestion extends Fields {
  readonly rules?: readonly { readonly toolName: string; readonly ruleContent?: string }[];
  readonly directories?: readonly string[];
}

/** The usage of one message of the model, as reported with a part of it. */
export interface Spending {
  readonly message: string;
  readonly model: string;
  readonly inputTokens: number;
  readonly cacheReadTokens: number;
  readonly cacheWriteTokens: number;
  readonly outputTokens: number;
  readonly characters: number;
}

export interface Result {
  readonly kind: 'result';
  readonly isError: boolean;
  readonly subtype: string;
  readonly text?: string;
  readonly costUsd?: number;
  readonly denials: readonly Denial[];
  readonly status?: number;
  readonly apiError?: string;
  readonly stopReason?: string;
  readonly errors: readonly string[];
}

export interface Denial {
  /** The id of the tool call. */
  readonly call: string;
  readonly tool: string;
  readonly summary: string;
}

export function messageReader() {
  const lines = lineReader();
  return (piece: Buffer | string): readonly Happening[] =>
    lines(piece).flatMap(({ text: line }) => readLine(line));
}

function readLine(line: string): Happening[] {
  const event = parse(line);
  switch (event.type) {
    case 'system':
      return readSystem(event);
    case 'assistant':
      return readAssistant(event);
    case 'user':
      return readUser(event);
    case 'stream_event':
      return readPart(fields(event.event), isOfSubagent(event));
    case 'rate_limit_event':
      return [readRateLimit(fields(event.rate_limit_info))];
    case 'control_request':
      return readRequest(text(event.request_id), fields(event.request));
    case 'control_cancel_request':
      return [{ kind: 'permission-cancelled', request: text(event.request_id) }];
    case 'control_response':
      return [readControl(fields(event.response))];
    case 'result':
      return [readResult(event)];
    default:
      return [];
  }
}

export function parse(line: string): Fields {
  // Other text is frequent on a shared stream, and throwing for it would be slow.
  return line.trimStart().startsWith('{') ? fields(parsed(line)) : {};
}

function readSystem(event: Fields): Happening[] {
  switch (event.subtype) {
    case 'init':
      return [
        {
          kind: 'init',
          model: text(event.model),
          version: text(event.claude_code_version),
          ...known('transcripts', transcriptsFolder(fields(event.memory_paths).auto)),
        },
      ];
    case 'permission_denied':
      return [{ kind: 'permission-denied', tool: text(event.tool_name) }];
    case 'api_retry':
      return [{ kind: 'api-retry', ...known('status', number(event.error_status)) }];
    default:
      return [];
  }
}

/** Claude Code keeps its notes on a project beside the transcripts, unless a setting moves them. */
function transcriptsFolder(memory: unknown): string | undefined {
  return /^(.*[\\/]projects[\\/][^\\/]+)[\\/]memory[\\/]?$/.exec(text(memory))?.[1];
}

function readAssistant(event: Fields): Happening[] {
  const message = fields(event.message);
  const blocks = list(message.content).map(fields);
  // Claude Code reports its own errors as answers of a model that does not exist.
  const isSynthetic = message.model === '<synthetic>';
  const isSub = isOfSubagent(event);
  const begun: Happening = { kind: 'message', id: text(message.id), isSynthetic };
  const says = isSynthetic
    ? apiError(event)
    : [...blocks.flatMap((block) => readBlock(block, isSub)), spending(message)];
  const isWhole = !isSynthetic && !blocks.some(({ type }) => type === 'tool_use');
  return isSub ? says : [begun, ...says, ...(isWhole ? checkpoint(event) : [])];
}

/** A checkpoint at this event, if it has a block of the given kind. */
function checkpoint({ uuid, message }: Fields, kind?: string): Happening[] {
  const blocks = list(fields(message).content).map(fields);
  const isOne = kind === undefined || blocks.some(({ type }) => type === kind);
  return typeof uuid === 'string' && isOne ? [{ kind: 'checkpoint', uuid }] : [];
}

export function isOfSubagent(event: Fields): boolean {
  return event.parent_tool_use_id != null;
}

/** Parts of an answer that is being written; the complete blocks follow as separate events. */
function readPart(part: Fields, isSub: boolean): Happening[] {
  if (part.type === 'message_start') {
    const message = fields(part.message);
    const begun: Happening = { kind: 'message', id: text(message.id), isSynthetic: false };
    return isSub ? [spending(message)] : [begun, spending(message)];
  }
  if (part.type === 'message_delta') {
    const tokens = number(fields(part.usage).output_tokens);
    return tokens === undefined ? [] : [{ kind: 'spent-output', tokens }];
  }
  if (part.type !== 'content_block_delta') return [];
  const { text: words, partial_json: input, thinking } = fields(part.delta);
  return [{ kind: 'written', characters: text(words ?? input ?? thinking).length }];
}

function apiError({ error }: Fields): Happening[] {
  return typeof error === 'string' ? [{ kind: 'api-error', error }] : [];
}

function readBlock(block: Fields, isSub: boolean): Happening[] {
  if (block.type === 'text' && !isSub) return [{ kind: 'text', text: text(block.text) }];
  if (block.type === 'tool_use') {
    const call = text(block.id);
    return [{ kind: 'tool-use', name: text(block.name), summary: summary(block.input), call }];
  }
  return [];
}

// The field that shows what a tool call does; the first one that exists counts.
const summaryFields = [
  'command',
  'file_path',
  'notebook_path',
  'path',
  'pattern',
  'url',
  'query',
  'description',
  'skill',
];

export function summary(input: unknown): string {
  const given = fields(input);
  const field = summaryFields.find((name) => typeof given[name] === 'string');
  const whole = field === undefined ? JSON.stringify(given) : text(given[field]);
  const start = whole.slice(0, 500).replace(/\s+/g, ' ').trim();
  return start.length > 120 ? `${start.slice(0, 119)}…` : start;
}

export function spending(message: Fields): Spending & { readonly kind: 'spent' } {
  const usage = fields(message.usage);
  return {
    kind: 'spent',
    message: text(message.id),
    model: text(message.model),
    inputTokens: number(usage.input_tokens) ?? 0,
    cacheReadTokens: number(usage.cache_read_input_tokens) ?? 0,
    cacheWriteTokens: number(usage.cache_creation_input_tokens) ?? 0,
    outputTokens: number(usage.output_tokens) ?? 0,
    characters: JSON.stringify(message.content ?? '').length,
  };
}

function readRateLimit(info: Fields): Happening {
  const resetsAt = number(info.resetsAt);
  return {
    kind: 'rate-limit',
    rejected: info.status === 'rejected',
    ...known('resetsAt', resetsAt === undefined ? undefined : epochMs(resetsAt)),
  };
}

function readControl(response: Fields): Happening {
  const error = response.subtype === 'error' ? text(response.error) : undefined;
  return { kind: 'control', request: text(response.request_id), ...known('error', error) };
}

function readRequest(request: string, asked: Fields): Happening[] {
  if (asked.subtype !== 'can_use_tool' || request === '' || request.length > MOST_ID) return [];
  const input = fields(asked.input);
  return [
    {
      kind: 'permission-asked',
      request,
      tool: text(asked.tool_name),
      summary: summary(input),
      input,
      call: text(asked.tool_use_id),
      suggestions: list(asked.permission_suggestions).map(fields).map(readSuggestion),
    },
  ];
}

const MOST_ID = 200;

function readSuggestion({ rules, directories, ...rest }: Fields): Suggestion {
  const read = list(rules)
    .map(fields)
    .map(({ toolName, ruleContent }) => ({
      toolName: text(toolName),
      ...(typeof ruleContent === 'string' && { ruleContent }),
    }));
  const folders = list(directories).map(text);
  return {
    ...rest,
    ...(read.length > 0 && { rules: read }),
    ...(folders.length > 0 && { directories: folders }),
  };
}

function readUser(event: Fields): Happening[] {
  const given = list(fields(event.message).content)
    .map(fields)
    .filter(({ type, tool_use_id: call }) => type === 'tool_result' && typeof call === 'string');
  const callsOf = (results: readonly Fields[]) => results.map(({ tool_use_id: id }) => text(id));
  const refused = callsOf(given.filter(isRefused));
  const results: Happening[] =
    given.length > 0 ? [{ kind: 'tool-results', calls: callsOf(given), refused }] : [];
  if (isOfSubagent(event)) return results;
  // A message that comes a second time is repeated at once, without a time, and does not count.
  const heard: Happening[] =
    event.isReplay === true && text(event.timestamp) !== ''
      ? [{ kind: 'heard', uuid: text(event.uuid) }]
      : [];
  return [...heard, { kind: 'input' }, ...checkpoint(event, 'tool_result'), ...results];
}

/** An edit that a deny rule has refused. Other refusals are in the list of the result. */
function isRefused({ is_error: isError, content }: Fields): boolean {
  return isError === true && text(content).includes('denied by your permission settings');
}

function readResult(event: Fields): Result {
  return {
    kind: 'result',
    isError: event.is_error !== false,
    subtype: text(event.subtype),
    ...known('text', typeof event.result === 'string' ? event.result : undefined),
    ...known('costUsd', number(event.total_cost_usd)),
    denials: list(event.permission_denials).map(fields).map(readDenial),
    ...known('status', number(event.api_error_status)),
    ...known('apiError', typeof event.api_error === 'string' ? event.api_error : undefined),
    ...known('stopReason', typeof event.stop_reason === 'string' ? event.stop_reason : undefined),
    errors: list(event.errors).map(text),
  };
}

function readDenial(denial: Fields): Denial {
  const { tool_use_id: call, tool_name: tool, tool_input: input } = denial;
  return { call: text(call), tool: text(tool), summary: summary(input) };
}

function known<K extends string, V>(key: K, value: V | undefined): { readonly [P in K]?: V } {
  return value === undefined ? {} : ({ [key]: value } as { readonly [P in K]?: V });
}
