/** The permission requests of one turn, and the decisions about them. */
import type { PermissionDecision, PermissionRequest } from '../../model/permission.ts';
import type { AskPerson } from '../../ports.ts';

interface PermissionRelayParts<Asked> {
  readonly ask: AskPerson;
  /** The request as people see it. */
  readonly describe: (asked: Asked) => PermissionRequest;
  /** Gives a decision to the agent. */
  readonly reply: (asked: Asked, decision: PermissionDecision) => void;
  /** Called when the turn begins to wait for a person, and when it continues. */
  readonly onRest: (isResting: boolean) => void;
}

export class PermissionRelay<Asked extends { readonly request: string }> {
  readonly #parts: PermissionRelayParts<Asked>;
  readonly #open = new Map<string, Asked>();
  /** Decisions about requests that this process has not read yet: it reads an adopted turn again. */
  readonly #early = new Map<string, PermissionDecision>();
  readonly #given = new Set<string>();
  #onGiven = () => {};

  constructor(parts: PermissionRelayParts<Asked>) {
    this.#parts = parts;
  }

  /** Whether the turn waits for a person. */
  get isResting(): boolean {
    return this.#open.size > 0;
  }

  /** The requests that wait for a person. */
  get open(): readonly Asked[] {
    return [...this.#open.values()];
  }

  /** Resolves when all decisions so far have been given to the agent. */
  async allGiven(): Promise<void> {
    while (this.#early.size > 0)
      await new Promise<void>((resolve) => {
        this.#onGiven = resolve;
      });
  }

  /** A second decision about a request has no effect. */
  decide(request: string, decision: PermissionDecision): void {
    if (this.#given.has(request)) return;
    const asked = this.#open.get(request);
    if (asked) this.#reply(asked, decision);
    else this.#early.set(request, decision);
  }

  asked(asked: Asked): void {
    const decided = this.#early.get(asked.request);
    this.#change(() => this.#open.set(asked.request, asked));
    if (decided) this.#reply(asked, decided);
    else this.#parts.ask({ kind: 'requested', request: this.#parts.describe(asked) });
  }

  withdraw(request: string): void {
    if (!this.#open.has(request)) return;
    this.#change(() => this.#open.delete(request));
    this.#parts.ask({ kind: 'withdrawn', request });
  }

  withdrawAll(): void {
    for (const request of [...this.#open.keys()]) this.withdraw(request);
  }

  #reply(asked: Asked, decision: PermissionDecision): void {
    this.#parts.reply(asked, decision);
    this.#given.add(asked.request);
    this.#early.delete(asked.request);
    this.#onGiven();
    this.#change(() => this.#open.delete(asked.request));
  }

  #change(change: () => void): void {
    const wasResting = this.isResting;
    change();
    if (wasResting !== this.isResting) this.#parts.onRest(this.isResting);
  }
}

/** Enough to judge a call. The records of the step have all of it. */
export const MOST_INPUT = 16_000;

/** A field of a call, as people see it. Lines of a longer text are indented, so that they cannot look like fields. */
export function fieldText([name, value]: [string, unknown]): string {
  const key = /^[\w-]{1,60}$/.test(name) ? name : JSON.stringify(name);
  const text = typeof value === 'string' ? value : (JSON.stringify(value, null, 2) ?? '');
  return text.includes('\n') ? `${key}:\n${text.replace(/^/gm, '  ')}` : `${key}: ${text}`;
}
