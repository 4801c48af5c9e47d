/** The permission requests of one turn, and the replies to them. */
import type { PermissionDecision } from '../../model/permission.ts';
import type { AskPerson } from '../../ports.ts';
import type { Happening } from './messages.ts';
import { type Asked, describeRequest, replyTo } from './permission-request.ts';

export interface TurnPermissionsParts {
  readonly ask: AskPerson;
  /** Sends a line to the process. */
  readonly send: (line: string) => void;
  /** Called when the turn begins to wait for a person, and when it continues. */
  readonly onRest: (isResting: boolean) => void;
  /** The process now has these rules. */
  readonly onGranted: (rules: readonly string[]) => void;
}

export class TurnPermissions {
  readonly #parts: TurnPermissionsParts;
  readonly #open = new Map<string, Asked>();
  /** Decisions about requests that this process has not read yet: it reads an adopted turn again. */
  readonly #early = new Map<string, PermissionDecision>();
  readonly #given = new Set<string>();
  #onGiven = () => {};

  constructor(parts: TurnPermissionsParts) {
    this.#parts = parts;
  }

  /** Whether the turn waits for a person. */
  get isResting(): boolean {
    return this.#open.size > 0;
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

  handle(happening: Happening): void {
    switch (happening.kind) {
      case 'permission-asked':
        this.#asked(happening);
        break;
      case 'permission-cancelled':
        this.#withdraw(happening.request);
        break;
      case 'tool-results':
        // A call that has its result no longer waits, whoever allowed it.
        for (const [request, { call }] of [...this.#open])
          if (happening.calls.includes(call)) this.#withdraw(request);
        break;
      case 'result':
        for (const request of [...this.#open.keys()]) this.#withdraw(request);
        break;
    }
  }

  #asked(asked: Asked): void {
    const decided = this.#early.get(asked.request);
    this.#change(() => this.#open.set(asked.request, asked));
    if (decided) this.#reply(asked, decided);
    else this.#parts.ask({ kind: 'requested', request: describeRequest(asked) });
  }

  #reply(asked: Asked, decision: PermissionDecision): void {
    this.#parts.send(replyTo(asked, decision));
    this.#given.add(asked.request);
    this.#early.delete(asked.request);
    this.#onGiven();
    if (decision.decision === 'allow-run')
      this.#parts.onGranted(describeRequest(asked).rules ?? []);
    this.#change(() => this.#open.delete(asked.request));
  }

  #withdraw(request: string): void {
    if (!this.#open.has(request)) return;
    this.#change(() => this.#open.delete(request));
    this.#parts.ask({ kind: 'withdrawn', request });
  }

  #change(change: () => void): void {
    const wasResting = this.isResting;
    change();
    if (wasResting !== this.isResting) this.#parts.onRest(this.isResting);
  }
}
