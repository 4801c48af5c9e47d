/** The habits of pi-acp 0.0.34. It starts pi, and reports little about it. */
import { parsed } from '../../model/attempt.ts';
import type { Usage } from '../../model/step-account.ts';
import { type Fields, fields, text } from '../json.ts';
import { tailIfReadable } from '../steps/file-text.ts';
import type { Adapter } from './adapter.ts';

export const PI_ADAPTER: Adapter = {
  starts: {
    program: 'pi',
    variable: 'PI_ACP_PI_COMMAND',
    oldest: '0.81.0',
    remedy:
      'Install it with "npm install -g @earendil-works/pi-coding-agent". It needs Node 22.19 or newer.',
    login: 'Start pi and type /login, or set the API key of a provider.',
    loginQuestion: ['--list-models'],
    variables: { PI_OFFLINE: '1' },
    readLogin: (answer) => {
      if (/^No models available/m.test(answer)) return 'no';
      return /^provider +model/m.test(answer) ? 'yes' : 'unknown';
    },
  },
  greetingIn: (opened) => text(fields(fields(fields(opened)._meta).piAcp).startupInfo),
  isRemark: (chunk) =>
    fields(fields(chunk._meta).piAcp).notify !== undefined ||
    REMARK.test(text(fields(chunk.content).text)),
  question: '/session',
  readStatement: (answer) => {
    const cost = Number(lineOf('Cost', answer));
    const file = lineOf('Session file', answer);
    return {
      totalUsd: lineOf('Cost', answer) !== undefined && cost >= 0 ? cost : undefined,
      totalUsage: usageIn(lineOf('Tokens', answer) ?? ''),
      fault: file === undefined ? undefined : faultIn(tailIfReadable(file, TAIL_BYTES)),
    };
  },
  keepsFromFirstAnswer: true,
  loadsAnything: true,
};

/** The program sends each remark as one chunk. */
const REMARK = new RegExp(
  `^(?:${[
    String.raw`Retrying(?: \(attempt \d+/\d+, waiting \d+s\))?\.\.\.`,
    String.raw`Retry finished, resuming\.`,
    String.raw`Context nearing limit, running automatic compaction\.\.\.`,
    String.raw`Automatic compaction finished; context was summarized to continue the session\.`,
    String.raw`Pi (?:input|editor) UI request is not supported in ACP yet; cancelling it\.`,
  ].join('|')})$`,
);

function lineOf(name: string, answer: string): string | undefined {
  const line = answer.split('\n').find((one) => one.startsWith(`${name}: `));
  return line?.slice(name.length + 2).trim() || undefined;
}

/** For example `in 60, out 20, cache read 40, cache write 0, total 120`. */
function usageIn(line: string): Usage | undefined {
  const count = (name: string) => {
    const found = new RegExp(`(?:^|, )${name} (\\d+)(?:,|$)`).exec(line)?.[1];
    return found === undefined ? undefined : Number(found);
  };
  const inputTokens = count('in');
  const outputTokens = count('out');
  if (inputTokens === undefined || outputTokens === undefined) return undefined;
  return {
    inputTokens,
    outputTokens,
    cacheReadTokens: count('cache read') ?? 0,
    cacheWriteTokens: count('cache write') ?? 0,
  };
}

/** A session is a file with one entry per line. Over the protocol, a failed turn is one without text. */
function faultIn(tail: string): string | undefined {
  const last = tail
    .split('\n')
    .map(messageIn)
    .findLast((message) => message !== undefined);
  if (text(last?.role) !== 'assistant') return undefined;
  switch (text(last?.stopReason)) {
    case 'error':
      return text(last?.errorMessage) || 'The request to the model failed.';
    case 'length':
      return 'The answer reached the limit of tokens.';
    default:
      return undefined;
  }
}

/** Lines that were cut are no entries. The line of an error is short. */
function messageIn(line: string): Fields | undefined {
  const entry = fields(parsed(line));
  return entry.type === 'message' ? fields(entry.message) : undefined;
}

const TAIL_BYTES = 64 * 1024;
