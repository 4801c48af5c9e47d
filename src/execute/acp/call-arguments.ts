/** The arguments of the tool calls of a turn, as the agent reports them. A request may have only some of them. */
import { type Fields, fields, text } from '../json.ts';
import type { Asked } from './permission-request.ts';
import type { Update } from './protocol.ts';

export class CallArguments {
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
