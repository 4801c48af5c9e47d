import type { Account } from '../model/step-account.ts';
import type { Live } from '../ports.ts';

/**
 * Collects the prints and the warnings of a step for its account. A step that an earlier process started
 * prints everything again, so the text does not depend on crashes.
 */
export class KeptPrints {
  readonly #most: number;
  #text = '';
  #omitted = 0;
  readonly #warnings = new Set<string>();

  constructor(kind: 'prompt' | 'script') {
    this.#most = MOST_CHARACTERS[kind];
  }

  add(live: Live): void {
    if (live.kind === 'warning') this.#warnings.add(live.text);
    if (live.kind !== 'print') return;
    const isNewLine = this.#text === '' || this.#text.endsWith('\n');
    const text = isNewLine ? live.text : `\n${live.text}`;
    const room = this.#omitted > 0 ? 0 : this.#most - this.#text.length;
    // Never cuts a surrogate pair.
    const end = isHighSurrogate(text.charCodeAt(room - 1)) ? room - 1 : room;
    if (end > 0) this.#text += text.slice(0, end);
    this.#omitted += Math.max(0, text.length - end);
  }

  kept(): Pick<Account, 'printed' | 'warnings'> {
    const text = this.#text.trimEnd();
    const omitted = this.#omitted > 0 && { omitted: this.#omitted };
    return {
      ...((text !== '' || omitted) && { printed: { text, ...omitted } }),
      ...(this.#warnings.size > 0 && { warnings: [...this.#warnings] }),
    };
  }
}

/** Prompts cost money, so more of their output is kept. A loop of scripts may print for months. */
const MOST_CHARACTERS = { prompt: 16_000, script: 1_000 } as const;

function isHighSurrogate(code: number): boolean {
  return code >= 0xd800 && code <= 0xdbff;
}
