/** The permission requests of one turn: Raymond decides what the run allows, and people the rest. */
import type { AskPerson, Live } from '../../ports.ts';
import { type Fields, fields, text } from '../json.ts';
import { PermissionRelay } from '../permission-relay.ts';
import type { Caller } from './call-rule.ts';
import { type Limits, verdict } from './permission-policy.ts';
import {
  type Asked,
  describeRequest,
  lineAbout,
  optionFor,
  readAsked,
  toolName,
} from './permission-request.ts';
import { type Id, type Incoming, permissionResult, type Update } from './protocol.ts';

export interface TurnPermissionsParts {
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

export class TurnPermissions {
  readonly #parts: TurnPermissionsParts;
  readonly #relay: PermissionRelay<Asked>;
  /** The arguments of the calls that have not ended. */
  readonly #arguments = new Map<string, Fields>();
  /** Requests that wait for the arguments of their call. */
  readonly #held = new Map<Asked, NodeJS.Timeout>();
  readonly denied: string[] = [];

  constructor(parts: TurnPermissionsParts) {
    this.#parts = parts;
    this.#relay = new PermissionRelay({
      ask: (asking) => parts.ask?.(asking),
      describe: (asked) => describeRequest(asked, parts.caller),
      reply: (asked, { decision }) => this.#reply(asked, decision === 'deny' ? 'deny' : 'allow'),
      onRest: () => {},
    });
  }

  /** Whether the turn waits for a person. */
  get isResting(): boolean {
    return this.#relay.isResting;
  }

  get relay(): Pick<PermissionRelay<Asked>, 'decide' | 'allGiven'> {
    return this.#relay;
  }

  handle(message: Extract<Incoming, { kind: 'request' }>): void {
    const asked = readAsked(message);
    if (!asked) return;
    const { limits, ask, asksPerson, granted } = this.#parts;
    const decided = verdict(asked.call, limits);
    if (decided === 'ask' && ask && (asksPerson || granted.length > 0)) this.#hold(asked);
    else this.#reply(asked, decided === 'allow' ? 'allow' : 'deny');
  }

  /** A call that works or has ended no longer waits, whoever allowed it. */
  update({ kind, fields: call }: Update): void {
    if (kind !== 'tool_call' && kind !== 'tool_call_update') return;
    const id = text(call.toolCallId);
    if (!['completed', 'failed'].includes(text(call.status))) {
      this.#learn(id, fields(call.rawInput));
      return;
    }
    this.#arguments.delete(id);
    for (const asked of this.#held.keys()) if (asked.callId === id) this.#release(asked);
    for (const { request, callId } of this.#relay.open)
      if (callId !== '' && callId === id) this.#relay.withdraw(request);
  }

  /** The turn is being cancelled: the protocol wants an answer to every open request. */
  cancel(): void {
    for (const { id } of [...this.#relay.open, ...this.#held.keys()])
      this.#parts.answer(id, permissionResult(undefined));
    this.end();
  }

  end(): void {
    for (const asked of [...this.#held.keys()]) this.#release(asked);
    this.#relay.withdrawAll();
  }

  /** Agents may report the arguments of a call shortly after they ask for the permission. */
  #hold(asked: Asked): void {
    const hasSome = Object.keys(fields(asked.call.rawInput)).length > 0;
    if (!hasSome || this.#isKnown(asked)) this.#put(asked);
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

  /** Whether the agent has reported all arguments: those of the request, and maybe others. */
  #isKnown({ call, callId }: Asked): boolean {
    const known = this.#arguments.get(callId) ?? {};
    const given = Object.entries(fields(call.rawInput));
    if (this.#parts.asksWhole) return given.length > 0;
    const isSame = ([name, value]: [string, unknown]) =>
      JSON.stringify(known[name]) === JSON.stringify(value);
    return given.length > 0 && given.every(isSame);
  }

  /** Puts the request to the run, which itself allows what one of its rules allows. */
  #put(given: Asked): void {
    this.#release(given);
    const all = this.#isKnown(given)
      ? { ...this.#arguments.get(given.callId), ...fields(given.call.rawInput) }
      : undefined;
    const asked = { ...given, ...(all && { all }) };
    const { asksPerson, granted, caller } = this.#parts;
    const { rules = [] } = describeRequest(asked, caller);
    if (asksPerson || rules.some((rule) => granted.includes(rule))) this.#relay.asked(asked);
    else this.#reply(asked, 'deny');
  }

  #learn(id: string, given: Fields): void {
    const known = this.#arguments.get(id);
    if (id === '' || (!known && this.#arguments.size >= MOST_CALLS)) return;
    this.#arguments.set(id, { ...known, ...given });
    for (const asked of [...this.#held.keys()])
      if (asked.callId === id && this.#isKnown(asked)) this.#put(asked);
  }

  #reply(asked: Asked, decision: 'allow' | 'deny'): void {
    const option = optionFor(asked, decision);
    this.#parts.answer(asked.id, permissionResult(option));
    if (decision === 'allow' && option !== undefined) return;
    this.denied.push(lineAbout(asked));
    this.#parts.live({ kind: 'denied', tool: toolName(asked.call) });
  }
}

const MOST_CALLS = 1_000;
/** Without them, the call can be allowed once. */
const ARGUMENTS_MS = 2_000;
