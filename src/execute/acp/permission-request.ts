/**
 * A permission request of an agent: as Raymond describes it to people, and the option that follows from
 * a decision. All fields come from the agent, so every one may be missing or of any size.
 */
import { createHash } from 'node:crypto';
import type { DecisionKind, PermissionRequest } from '../../model/permission.ts';
import { type Fields, fields, list, text } from '../json.ts';
import { fieldText, MOST_INPUT } from '../turn/permission-relay.ts';
import { type Caller, ruleFor } from './call-rule.ts';
import type { Id, Incoming } from './protocol.ts';

export interface Asked {
  readonly id: Id;
  /** The id of the request for people. */
  readonly request: string;
  readonly session: string;
  /** The tool call. */
  readonly call: Fields;
  readonly callId: string;
  /** All arguments of the call, if the agent has reported them. A request may have only some. */
  readonly all?: Fields;
  readonly options: readonly { readonly id: string; readonly kind: string }[];
}

export function readAsked({
  id,
  method,
  params,
}: Extract<Incoming, { kind: 'request' }>): Asked | undefined {
  if (method !== 'session/request_permission') return undefined;
  const call = fields(params.toolCall);
  const session = text(params.sessionId);
  return {
    id,
    request: requestName(session, id),
    session,
    call,
    callId: text(call.toolCallId),
    options: list(params.options)
      .map(fields)
      .map((option) => ({ id: text(option.optionId), kind: text(option.kind) })),
  };
}

/** Each process numbers its requests from 0, and people name the requests of all agents of a run. */
function requestName(session: string, id: Id): string {
  const whole = JSON.stringify([session, id]);
  return createHash('sha256').update(whole).digest('hex').slice(0, 16);
}

/** A call has a rule if all of its arguments are known, and if people see all of them. */
export function describeRequest(
  { request, call: given, all }: Asked,
  caller: Caller,
): PermissionRequest {
  const call: Fields = { ...given, rawInput: all ?? given.rawInput };
  const input = inputText(call);
  const title = text(call.title);
  const isShown = all !== undefined && input.length <= MOST_INPUT;
  const rule = isShown ? ruleFor(call, toolName(call), caller) : undefined;
  return {
    request,
    tool: toolName(call),
    summary: (title || input).replace(/\s+/g, ' ').slice(0, MOST_SUMMARY),
    input: input.slice(0, MOST_INPUT),
    ...(input.length > MOST_INPUT && { inputLength: input.length }),
    ...(rule !== undefined && { rules: [rule], isExact: true }),
  };
}

export function toolName(call: Fields): string {
  return (text(call.name) || text(call.kind) || 'tool').slice(0, MOST_SUMMARY);
}

/** A request in one line, for the list of what was denied. */
export function lineAbout({ call }: Asked): string {
  return `${toolName(call)} ${text(call.title).replace(/\s+/g, ' ')}`.trim().slice(0, MOST_SUMMARY);
}

const MOST_SUMMARY = 300;

/** The title, the arguments, the changes and other files of a call. Lines of a longer text are indented. */
function inputText(call: Fields): string {
  const changes = list(call.content).map(fields).flatMap(changeText);
  const shown = [
    text(call.title),
    ...Object.entries(fields(call.rawInput)).map(fieldText),
    ...changes,
  ].filter((part) => part !== '');
  const files = list(call.locations).map((location) => text(fields(location).path));
  const isNew = (file: string) => file !== '' && !shown.some((part) => part.includes(file));
  return [...shown, ...files.filter(isNew).map((file) => fieldText(['file', file]))].join('\n');
}

function changeText(part: Fields): readonly string[] {
  if (part.type === 'diff')
    return [`new text of ${text(part.path)}:\n${text(part.newText).replace(/^/gm, '  ')}`];
  const said = text(fields(part.content).text);
  return said === '' ? [] : [said];
}

/**
 * The option that follows from a decision. Undefined if the agent offers none: then the answer is that
 * the request is cancelled. A call that is allowed once must not be allowed for ever.
 */
export function optionFor({ options }: Asked, decision: DecisionKind): string | undefined {
  const kind = decision === 'deny' ? 'reject_once' : 'allow_once';
  const found = options.find((option) => option.kind === kind && option.id !== '');
  if (found || decision !== 'deny') return found?.id;
  return options.find((option) => option.kind === 'reject_always' && option.id !== '')?.id;
}
