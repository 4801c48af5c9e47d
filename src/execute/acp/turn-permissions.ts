/** The permission requests of one turn: Raymond decides what the run allows, and people the rest. */
import type { AskPerson, Live } from '../../ports.ts';
import { type Fields, fields, text } from '../json.ts';
import { PermissionRelay } from '../turn/permission-relay.ts';
import type { Caller } from './call-rule.ts';
import { type Limits, refusedFor, verdict } from './permission-policy.ts';
import {
  type Asked,
  describeRequest,
  lineAbout,
  optionFor,
  readAsked,
  toolName,
} from './permission-request.ts';
import { type Id, type Incoming, permissionResult, type Update } from './protocol.ts';

interface TurnPermissionsParts {
  readonly ask: AskPerson | undefined;
  /** Whether a person decides about the calls that neither the run nor one of its rules allows. */
  readonly asksPerson: boolean;
  /** Whether requests of the agent have all arguments of their call. */
  readonly asksWhole: boolean;
  /** The rules that people have allowed for the run. */
  readonly granted: readonly string[];
  readonly caller: Caller;
  readonly limits: Limits;
  /** Answers a request of the agent. */
  readonly answer: (id: Id, result: object) => void;
  readonly live: (live: Live) => void;
}

export class TurnPermissions extends PermissionRelay<Asked> {
  readonly #parts: TurnPermissionsParts;
  readonly #arguments: CallArguments;
  /** Requests that wait for the arguments of their call. */
  readonly #held = new Map<Asked, NodeJS.Timeout>();
  readonly denied: string[] = [];

  constructor(parts: TurnPermissionsParts) {
    super({
      ask: (asking) => parts.ask?.(asking),
      describe: (asked) => describeRequest(asked, parts.caller),
      reply: (asked, { decision }) => this.#give(asked, decision === 'deny' ? 'deny' : 'allow'),
      onRest: () => {},
    });
    this.#parts = parts;
    this.#arguments = new CallArguments(parts.asksWhole);
  }

  handle(message: Extract<Incoming, { kind: 'request' }>): void {
    const asked = readAsked(message);
    if (!asked) return;
    const { limits, ask, asksPerson, granted } = this.#parts;
    const decided = verdict(asked.call, limits);
    if (decided === 'ask' && ask && (asksPerson || granted.length > 0)) this.#hold(asked);
    else this.#give(asked, decided === 'allow' ? 'allow' : 'deny');
  }

  /** A call that works or has ended no longer waits, whoever allowed it. */
  update(update: Update): void {
    const { kind, fields: call } = update;
    if (kind !== 'tool_call' && kind !== 'tool_call_update') return;
    const isAbout = ({ callId }: Asked) => callId !== '' && callId === text(call.toolCallId);
    const held = [...this.#held.keys()].filter(isAbout);
    if (['completed', 'failed'].includes(text(call.status))) {
      this.#arguments.forget(update);
      for (const asked of held) this.#release(asked);
      for (const { request } of this.open.filter(isAbout)) this.withdraw(request);
      return;
    }
    this.#arguments.learn(update);
    for (const asked of held) if (this.#arguments.of(asked)) this.#put(asked);
  }

  /** The turn is being cancelled: the protocol wants an answer to every open request. */
  cancel(): void {
    for (const { id } of [...this.open, ...this.#held.keys()])
      this.#parts.answer(id, permissionResult(undefined));
    this.end();
  }

  end(): void {
    for (const asked of [...this.#held.keys()]) this.#release(asked);
    this.withdrawAll();
  }

  /** Agents may report the arguments of a call shortly after they ask for the permission. */
  #hold(asked: Asked): void {
    const isBare = Object.keys(fields(asked.call.rawInput)).length === 0;
    if (isBare || this.#arguments.of(asked)) this.#put(asked);
    else
      this.#held.set(
        asked,
        setTimeout(() => this.#put(asked), ARGUMENTS_MS),
      );
  }

  #release(asked: Asked): void {
    clearTimeout(this.#held.get(asked));
    this.#held.delete(asked);
  }

  /** Puts the request to the run, which itself allows what one of its rules allows. */
  #put(given: Asked): void {
    this.#release(given);
    const all = this.#arguments.of(given);
    const asked = { ...given, ...(all && { all }) };
    const { asksPerson, granted, caller } = this.#parts;
    const { rules = [] } = describeRequest(asked, caller);
    if (asksPerson || rules.some((rule) => granted.includes(rule))) this.asked(asked);
    else this.#give(asked, 'deny');
  }

  #give(asked: Asked, decision: 'allow' | 'deny'): void {
    const option = optionFor(asked, decision);
    this.#parts.answer(asked.id, permissionResult(option));
    if (decision === 'allow' && option !== undefined) return;
    const file = refusedFor(asked.call, this.#parts.limits);
    const rule = file === undefined ? '' : ` (protected: ${file})`;
    this.denied.push(`${lineAbout(asked)}${rule}`);
    this.#parts.live({ kind: 'denied', tool: toolName(asked.call) });
  }
}

/** Without the arguments, the call can be allowed once. */
const ARGUMENTS_MS = 2_000;

/** The arguments of the tool calls of a turn, as the agent reports them. A request may have only some of them. */
class CallArguments {
  readonly #asksWhole: boolean;
  readonly #reported = new Map<string, Fields>();

  /** `asksWhole`: requests of the agent have all arguments of their call. */
  constructor(asksWhole: boolean) {
    this.#asksWhole = asksWhole;
  }

  learn({ session, fields: call }: Update): void {
    const key = keyOf(session, text(call.toolCallId));
    const given = fields(call.rawInput);
    const hasRoom = this.#reported.has(key) || this.#reported.size < MOST_CALLS;
    if (Object.keys(given).length > 0 && hasRoom) this.#reported.set(key, given);
  }

  forget({ session, fields: call }: Update): void {
    this.#reported.delete(keyOf(session, text(call.toolCallId)));
  }

  /** All arguments of the call: those of the request, and others. Undefined if they are not known. */
  of({ session, call, callId }: Asked): Fields | undefined {
    const given = fields(call.rawInput);
    const known = this.#reported.get(keyOf(session, callId)) ?? {};
    const isSame = ([name, value]: [string, unknown]) =>
      JSON.stringify(known[name]) === JSON.stringify(value);
    const entries = Object.entries(given);
    const areAll = entries.length > 0 && (this.#asksWhole || entries.every(isSame));
    return areAll ? { ...known, ...given } : undefined;
  }
}

const keyOf = (session: string, call: string) => JSON.stringify([session, call]);

const MOST_CALLS = 1_000;
