/** The permission requests of one turn: Raymond decides what the run allows, and people the rest. */
import type { AskPerson, Live } from '../../ports.ts';
import { text } from '../json.ts';
import { PermissionRelay } from '../permission-relay.ts';
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
  /** Absent if no person is asked. */
  readonly ask: AskPerson | undefined;
  readonly limits: Limits;
  /** Answers a request of the agent. */
  readonly answer: (id: Id, result: object) => void;
  readonly live: (live: Live) => void;
}

export class TurnPermissions {
  readonly #parts: TurnPermissionsParts;
  readonly #relay: PermissionRelay<Asked>;
  readonly denied: string[] = [];

  constructor(parts: TurnPermissionsParts) {
    this.#parts = parts;
    this.#relay = new PermissionRelay({
      ask: (asking) => parts.ask?.(asking),
      describe: describeRequest,
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
    const decided = verdict(asked.call, this.#parts.limits);
    if (decided === 'ask' && this.#parts.ask) this.#relay.asked(asked);
    else this.#reply(asked, decided === 'allow' ? 'allow' : 'deny');
  }

  /** A call that works or has ended no longer waits, whoever allowed it. */
  update({ kind, fields: call }: Update): void {
    if (kind !== 'tool_call_update' || !['completed', 'failed'].includes(text(call.status))) return;
    for (const { request, callId } of this.#relay.open)
      if (callId !== '' && callId === text(call.toolCallId)) this.#relay.withdraw(request);
  }

  /** The turn is being cancelled: the protocol wants an answer to every open request. */
  cancel(): void {
    for (const { id } of this.#relay.open) this.#parts.answer(id, permissionResult(undefined));
    this.#relay.withdrawAll();
  }

  end(): void {
    this.#relay.withdrawAll();
  }

  #reply(asked: Asked, decision: 'allow' | 'deny'): void {
    const option = optionFor(asked, decision);
    this.#parts.answer(asked.id, permissionResult(option));
    if (decision === 'allow' && option !== undefined) return;
    this.denied.push(lineAbout(asked));
    this.#parts.live({ kind: 'denied', tool: toolName(asked.call) });
  }
}
