/** The page of the live view with the conversation of an agent. */
import type { Doing } from '../../model/now.ts';
import type { Row } from '../../observe/block.ts';
import { agentRow } from '../../view/agent-rows.ts';
import type { Key } from '../../view/keys.ts';
import { firstRow, type Scroll, scrolled, scrollText } from '../../view/page-rows.ts';
import { shortened } from '../../view/shortened.ts';
import type { View } from '../../view/view.ts';
import type { Conversation } from './conversation.ts';
import type { PageRow, Screen } from './terminal.ts';

export interface PageFrame {
  readonly now: number;
  readonly doing: ReadonlyMap<string, Doing>;
  readonly isLost: boolean;
  /** A question waits for the user. */
  readonly asks: boolean;
}

export class ConversationPage {
  readonly #conversation: Conversation;
  readonly #screen: Pick<Screen, 'size' | 'wrapped'>;
  #scroll: Scroll = 'end';

  constructor(conversation: Conversation, screen: Pick<Screen, 'size' | 'wrapped'>) {
    this.#conversation = conversation;
    this.#screen = screen;
  }

  rows(view: View, { now, doing, isLost, asks }: PageFrame): readonly (PageRow | Row)[] {
    const { columns } = this.#screen.size();
    const width = Math.max(1, columns - 1);
    const text = this.#screen.wrapped(this.#conversation.parts());
    const { room } = this.#size();
    const first = firstRow(this.#scroll, { rows: text.length, room });
    const shown: readonly (PageRow | Row)[] = text.slice(first, first + room);
    const empty = Array.from({ length: room - shown.length }, () => EMPTY);
    const rule: Row = { pieces: [{ text: '─'.repeat(width), tone: 'faint' }] };
    return [
      agentRow(view, { width, now, doing, isLost }, this.#conversation.agent),
      rule,
      ...shown,
      ...empty,
      EMPTY,
      this.#foot(view, width, asks),
    ];
  }

  press(key: Key): void {
    if (key === 'left') void this.#earlier();
    else if (key === 'right') this.#later();
    else this.#scroll = scrolled(this.#scroll, key, this.#size());
  }

  event(): void {
    this.#conversation.event();
  }

  close(): void {
    this.#conversation.close();
  }

  async #earlier(): Promise<void> {
    const before = this.#starts().filter((start) => start < this.#first());
    if (before.length > 0) this.#scroll = before.at(-1) ?? 0;
    else if (await this.#conversation.addEarlier()) this.#scroll = 0;
  }

  #later(): void {
    this.#scroll = this.#starts().find((start) => start > this.#first()) ?? 'end';
  }

  /** The first row of each step. */
  #starts(): readonly number[] {
    const parts = this.#conversation.parts();
    return this.#conversation
      .starts()
      .map((start) => this.#screen.wrapped(parts.slice(0, start)).length);
  }

  #first(): number {
    return firstRow(this.#scroll, this.#size());
  }

  #size() {
    const rows = this.#screen.wrapped(this.#conversation.parts()).length;
    return { rows, room: Math.max(1, this.#screen.size().rows - FIXED_ROWS) };
  }

  #foot({ run }: View, width: number, asks: boolean): Row {
    const { status } = run;
    const left =
      status.kind === 'ended'
        ? `The run is over: ${status.outcome}. Esc back`
        : asks
          ? FEW_KEYS
          : KEYS;
    const asking = asks ? 'A question waits for you: a answers' : '';
    const right = scrollText(this.#scroll, this.#size());
    const column = width - right.length;
    const start = asks ? asking.length + 2 : 0;
    return {
      pieces: [
        { text: shortened(asking, column - 1), tone: 'warning' },
        {
          text: shortened(left, column - 1 - start),
          tone: 'faint',
          column: start,
        },
        ...(column > 0 ? [{ text: right, tone: 'faint' as const, column }] : []),
      ],
    };
  }
}

const KEYS = 'Esc back · arrows, PgUp, PgDn, Home, End scroll · Left, Right step';
/** Beside the question that waits. */
const FEW_KEYS = 'Esc back · arrows scroll';
const EMPTY: Row = { pieces: [] };
/** The agent, a rule, an empty row and the keys. */
const FIXED_ROWS = 4;
