/** Collects what an agent reports during a turn. */
import type { Usage } from '../../model/step-account.ts';
import type { Live } from '../../ports.ts';
import { sumOfUsage } from '../agents/token-price.ts';
import { type Fields, fields, text } from '../json.ts';
import { textShower } from '../turn/follow-output.ts';
import type { Statement } from './adapter.ts';
import { usageIn } from './cost.ts';
import { costIn, sizeIn, type Update, type UpdateKind } from './protocol.ts';

export class TurnRecord {
  readonly #live: (live: Live) => void;
  readonly #isRemark: (chunk: Fields) => boolean;
  readonly #showText: (text: string) => void;
  readonly #tools = new Map<string, Tool>();
  /** The message that is being written. Agents may give their messages names. */
  #current: Message | undefined;
  #named: Message | undefined;
  #unnamed: Message | undefined;
  /** The length of everything that the model has written. */
  characters = 0;
  /** The newest total cost that the agent reported. */
  totalUsd: number | undefined;
  /** The total tokens of the session, if the agent stated them. */
  totalUsage: Usage | undefined;
  /** The size of the session, if the agent stated it. */
  contextTokens: number | undefined;
  /** A tool has run, so the message of the model that called it was complete. */
  hasActed = false;
  /** The sum of the tokens that the agent reported with its messages, one number for each request. */
  usage: Usage | undefined;

  /** A chunk that is a remark of the program is no part of the answer. */
  constructor(live: (live: Live) => void, isRemark: (chunk: Fields) => boolean = () => false) {
    this.#live = live;
    this.#showText = textShower(live);
    this.#isRemark = isRemark;
  }

  /**
   * The last message. If the agent names its messages, texts without a name are remarks of the program
   * and not of the model.
   */
  get answer(): string | undefined {
    return this.#named?.text ?? this.remark;
  }

  /** The last message with a name. */
  get named(): string | undefined {
    return this.#named?.text;
  }

  /** The last text without a name. */
  get remark(): string | undefined {
    return this.#unnamed?.text;
  }

  /** The model has begun to work, so the session contains the prompt. */
  get hasSpoken(): boolean {
    return this.characters > 0 || this.#tools.size > 0;
  }

  /** The number of tool calls. Each request to the model but the last one has at least one. */
  get calls(): number {
    return this.#tools.size;
  }

  /** The agent stated the totals after the turn. */
  state({ totalUsd, totalUsage }: Partial<Statement>): void {
    this.totalUsd = totalUsd ?? this.totalUsd;
    this.totalUsage = totalUsage;
  }

  add(update: Update): void {
    this.totalUsd = costIn(update) ?? this.totalUsd;
    this.contextTokens = sizeIn(update) ?? this.contextTokens;
    const usage = usageIn(fields(fields(update.fields._meta).usage));
    if (usage) this.usage = sumOfUsage([usage, ...(this.usage ? [this.usage] : [])]);
    const kind = update.kind as UpdateKind;
    switch (kind) {
      case 'agent_message_chunk':
        if (this.#isRemark(update.fields)) this.#note(text(fields(update.fields.content).text));
        else this.#chunk(text(fields(update.fields.content).text), text(update.fields.messageId));
        return;
      case 'agent_thought_chunk':
        this.characters += text(fields(update.fields.content).text).length;
        return;
      case 'tool_call':
      case 'tool_call_update':
        this.#tool(update);
        return;
    }
  }

  /** The turn is over. */
  end(): void {
    this.#finish();
  }

  #chunk(part: string, name: string): void {
    if (this.#current?.name !== name) this.#finish();
    this.characters += part.length;
    if ((this.#current?.text.length ?? 0) + part.length > MOST_TEXT) return;
    this.#current ??= { name, text: '' };
    this.#current.text += part;
  }

  #note(remark: string): void {
    this.#finish();
    this.#live({ kind: 'text', text: remark });
  }

  #finish(): void {
    const message = this.#current;
    this.#current = undefined;
    if (!message || message.text.trim() === '') return;
    if (message.name === '') this.#unnamed = message;
    else this.#named = message;
    this.#showText(message.text);
  }

  /** The arguments of a call, and so its title, often come after the call itself. */
  #tool({ kind, fields: call }: Update): void {
    this.#finish();
    const id = text(call.toolCallId);
    if (text(call.status) !== '' && text(call.status) !== 'pending') this.hasActed = true;
    const known = this.#tools.get(id);
    const title = text(call.title) || known?.title || '';
    const name = known?.name || text(call.name) || text(call.kind) || 'tool';
    const tool: Tool = { name, title, isShown: known?.isShown ?? false };
    const isKnown = kind === 'tool_call_update' || (title !== '' && title !== name);
    if (isKnown && !tool.isShown) {
      tool.isShown = true;
      this.#live({ kind: 'tool', name: clipped(name), summary: clipped(title) });
    }
    if (known || this.#tools.size < MOST_TOOLS) this.#tools.set(id, tool);
  }
}

interface Message {
  readonly name: string;
  text: string;
}

interface Tool {
  readonly name: string;
  readonly title: string;
  isShown: boolean;
}

const MOST_TEXT = 32 * 1024 * 1024;
const MOST_TOOLS = 10_000;

const clipped = (line: string) => line.slice(0, 300);
