/** The conversation of an agent for the live view: from one of its steps to the newest, as it streams. */
import { followStep, type LookedAtStep, lookAtStep } from '../../app/look.ts';
import { messageOf } from '../../model/message-of.ts';
import type { Run } from '../../model/run.ts';
import type { Part } from '../../observe/screen.ts';
import type { Surroundings } from '../../world/surroundings.ts';
import { block, endParts, messagesParts, stepParts } from '../look/step-parts.ts';

export interface ConversationParts {
  readonly around: Pick<Surroundings, 'store' | 'world' | 'clock'>;
  readonly agent: string;
  /** The run as the view knows it. */
  readonly run: () => Run;
  /** There is more to show. */
  readonly change: () => void;
}

interface Section {
  readonly step: number;
  readonly parts: Part[];
}

export class Conversation {
  readonly #parts: ConversationParts;
  #sections: readonly Section[] = [];
  /** The text that the agent is writing now. */
  #partial = '';
  #isClosed = false;
  readonly #waits = new Set<() => void>();

  constructor(parts: ConversationParts) {
    this.#parts = parts;
    this.#follow(Math.max(1, this.#newest())).catch((error: unknown) => {
      const part: Part = { kind: 'line', text: messageOf(error) };
      this.#sections = [...this.#sections, { step: 0, parts: [part] }];
      parts.change();
    });
  }

  get agent(): string {
    return this.#parts.agent;
  }

  parts(): readonly Part[] {
    if (this.#sections.length === 0) return [{ kind: 'line', text: 'It has not begun a step.' }];
    const shown = this.#sections.flatMap(({ parts }, i) => (i === 0 ? parts : [...GAP, ...parts]));
    return this.#partial === '' ? shown : [...shown, ...block('writes', this.#partial, 0)];
  }

  /** The parts before each step that is shown. */
  starts(): readonly number[] {
    let before = 0;
    return this.#sections.map(({ parts }, i) => {
      const start = before + (i === 0 ? 0 : GAP.length);
      before = start + parts.length;
      return start;
    });
  }

  /** Adds the step before the first one that is shown. Returns whether there is one. */
  async addEarlier(): Promise<boolean> {
    const step = (this.#sections[0]?.step ?? 1) - 1;
    if (step < 1) return false;
    const { parts } = await this.#read(step);
    if (this.#sections[0]?.step === step + 1)
      this.#sections = [{ step, parts: [...parts] }, ...this.#sections];
    return true;
  }

  /** The run has changed. */
  event(): void {
    for (const look of [...this.#waits]) look();
  }

  close(): void {
    this.#isClosed = true;
    this.event();
  }

  async #follow(first: number): Promise<void> {
    for (let step = first; ; step++) {
      await this.#until(() => this.#newest() >= step);
      if (this.#isClosed) return;
      const { looked, parts } = await this.#read(step);
      const section: Section = { step, parts: [...parts] };
      this.#sections = [...this.#sections, section];
      this.#parts.change();
      if (looked?.step.outcome === null) await this.#stream(section, looked);
    }
  }

  async #stream(section: Section, { step, cwd }: LookedAtStep): Promise<void> {
    const isOver = this.#until(() => !this.#isRunning(section.step));
    let last = step.messages.at(-1);
    for await (const news of followStep(this.#parts.around, step, isOver)) {
      this.#partial = news.kind === 'partial' ? news.text : '';
      if (news.kind === 'messages') {
        section.parts.push(...messagesParts(news.messages, { before: last, cwd }));
        last = news.messages.at(-1) ?? last;
      }
      this.#parts.change();
    }
    this.#partial = '';
    if (this.#isClosed) return;
    const { looked } = await this.#look(section.step);
    if (looked) section.parts.push(...endParts(looked.step));
    this.#parts.change();
  }

  async #read(step: number): Promise<{ looked?: LookedAtStep; parts: readonly Part[] }> {
    const { looked, problem } = await this.#look(step);
    if (!looked) return { parts: [{ kind: 'line', text: problem }] };
    const end = looked.step.outcome === null ? [] : endParts(looked.step);
    return { looked, parts: [...stepParts(looked, Date.now()), ...end] };
  }

  /** The files of a step may be gone. That must not disturb the run. */
  async #look(step: number): Promise<{ looked?: LookedAtStep; problem: string }> {
    const { around, agent, run } = this.#parts;
    try {
      return { looked: await lookAtStep(around, run().id, { agent, step }), problem: '' };
    } catch (error) {
      return { problem: messageOf(error) };
    }
  }

  #newest(): number {
    const { agent, run } = this.#parts;
    const { agents, endedAgents } = run();
    return agents.get(agent)?.steps ?? endedAgents.get(agent)?.steps ?? 0;
  }

  #isRunning(step: number): boolean {
    const status = this.#parts.run().agents.get(this.agent)?.status;
    return status?.kind === 'running' && status.step === step;
  }

  /** Also settles when the user leaves. */
  #until(isTrue: () => boolean): Promise<void> {
    return new Promise((resolve) => {
      const look = () => {
        if (!this.#isClosed && !isTrue()) return;
        this.#waits.delete(look);
        resolve();
      };
      this.#waits.add(look);
      look();
    });
  }
}

const GAP: readonly Part[] = [
  { kind: 'line', text: '' },
  { kind: 'line', text: '' },
];
