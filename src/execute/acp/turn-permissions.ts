/** The permission requests of one turn: Raymond decides what the run allows, and people the rest. */
import type { PermissionDecision } from '../../model/permission.ts';
import type { AskPerson, Live } from '../../ports.ts';
import { fields, text } from '../json.ts';
import { PermissionRelay } from '../turn/permission-relay.ts';
import { CallArguments } from './call-arguments.ts';
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
  readonly #arguments: CallArguments;
  /** Requests that wait for the arguments of their call. */
  readonly #held = new Map<Asked, NodeJS.Timeout>();
  readonly denied: string[] = [];

  constructor(parts: TurnPermissionsParts) {
    this.#parts = parts;
    this.#arguments = new CallArguments(parts.asksWhole);
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

  decide(request: string, decision: PermissionDecision): void {
    this.#relay.decide(request, decision);
  }

  allGiven(): Promise<void> {
    return this.#relay.allGiven();
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
  update(update: Update): void {
    const { kind, fields: call } = update;
    if (kind !== 'tool_call' && kind !== 'tool_call_update') return;
    const isAbout = ({ callId }: Asked) => callId !== '' && callId === text(call.toolCallId);
    const held = [...this.#held.keys()].filter(isAbout);
    if (['completed', 'failed'].includes(text(call.status))) {
      this.#arguments.forget(update);
      for (const asked of held) this.#release(asked);
      for (const { request } of this.#relay.open.filter(isAbout)) this.#relay.withdraw(request);
      return;
    }
    this.#arguments.learn(update);
    for (const asked of held) if (this.#arguments.of(asked)) this.#put(asked);
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
    if (asksPerson || rules.some((rule) => granted.includes(rule))) this.#relay.asked(asked);
    else this.#reply(asked, 'deny');
  }

  #reply(asked: Asked, decision: 'allow' | 'deny'): void {
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
