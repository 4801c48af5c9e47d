/**
 * The words of people in one turn. Claude Code gets them as messages while it works. It puts them between
 * two calls of the model. If the model has already answered, they begin another answer, which then counts.
 * Either way it repeats the message on its output when the conversation has it. A message with an id that
 * it knows is ignored, so the words can be sent again by a process that does not know whether they were.
 */
import type { Happening } from './messages.ts';

interface TurnWordsParts {
  /** Sends words to the process. */
  readonly send: (id: string, text: string) => void;
  readonly onHeard: (id: string) => void;
  /** The turn has its result, and words that were sent stay unheard. */
  readonly onLate: () => void;
  readonly lateMs?: number;
}

export class TurnWords {
  readonly #parts: TurnWordsParts;
  /** Words that wait for the turn to begin. A message before that would be part of the prompt. */
  readonly #early = new Map<string, string>();
  readonly #sent = new Set<string>();
  readonly #heard = new Set<string>();
  #phase: 'new' | 'works' | 'answered' | 'over' = 'new';
  #timer: NodeJS.Timeout | undefined;

  constructor(parts: TurnWordsParts) {
    this.#parts = parts;
  }

  /** The words that may be on their way. */
  get sent(): readonly string[] {
    return [...this.#sent];
  }

  /** The words that the model has got in this turn. */
  get heard(): readonly string[] {
    return [...this.#heard];
  }

  /** Whether the result is the last one of the turn. Then it takes no more words. */
  get isOver(): boolean {
    if (this.#phase === 'answered' && this.#sent.size === 0) this.#phase = 'over';
    return this.#phase === 'over';
  }

  say(id: string, text: string): void {
    if (this.#phase === 'over' || this.#sent.has(id) || this.#heard.has(id)) return;
    if (this.#phase === 'new') this.#early.set(id, text);
    else this.#send(id, text);
  }

  handle(happening: Happening): void {
    switch (happening.kind) {
      case 'init':
      case 'message':
        if (this.#phase !== 'new') return;
        this.#phase = 'works';
        for (const [id, text] of this.#early) this.#send(id, text);
        return;
      case 'heard':
        this.#hear(happening.uuid);
        return;
      case 'result':
        this.#phase = 'answered';
        if (this.#sent.size > 0)
          this.#timer ??= setTimeout(() => this.#parts.onLate(), this.#parts.lateMs ?? LATE_MS);
    }
  }

  /** The output has ended. `has` says whether the conversation contains words. */
  close(has: (id: string) => boolean): void {
    this.#stopTimer();
    this.#phase = 'over';
    for (const id of this.#sent) if (has(id)) this.#hear(id);
  }

  #send(id: string, text: string): void {
    this.#sent.add(id);
    this.#parts.send(id, text);
  }

  #hear(id: string): void {
    if (this.#heard.has(id)) return;
    this.#sent.delete(id);
    this.#early.delete(id);
    this.#heard.add(id);
    this.#parts.onHeard(id);
    if (this.#sent.size === 0) this.#stopTimer();
    // The turn continues, with the answer to the words.
    if (this.#phase === 'answered') this.#phase = 'works';
  }

  #stopTimer(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }
}

/** Claude Code takes up a message that waits within milliseconds after its answer. */
const LATE_MS = 10_000;
