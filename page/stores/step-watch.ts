/** One step of an agent: its record, and while it runs what it adds to it. */
import type { ErrorBody } from '../../src/look/common.ts';
import type { StepOutcomeShape, StepShape } from '../../src/look/step-shape.ts';
import { get, type Trouble, troubleFrom } from '../lib/api.ts';
import { type Connection, follow } from '../lib/follow.ts';
import type { ServerEvent } from '../lib/server-events.ts';
import { Store } from '../lib/store.ts';
import { type Messages, withMessages } from './conversation.ts';

export interface WatchedStep extends Omit<StepShape, keyof Messages>, Messages {
  /** The words that the agent is writing. */
  readonly partial: string;
}

export class StepWatch {
  readonly step = new Store<WatchedStep | undefined>(undefined);
  readonly trouble = new Store<Trouble | undefined>(undefined);
  readonly connection = new Store<Connection>({ kind: 'connecting' });
  readonly #path: string;
  #unfollow: () => void = () => {};
  #isEnded = false;

  constructor(run: string, agent: string, step: number) {
    this.#path = `/api/runs/${encodeURIComponent(run)}/steps/${encodeURIComponent(agent)}/${step}`;
    void this.read();
  }

  end(): void {
    this.#isEnded = true;
    this.#unfollow();
  }

  async read(): Promise<void> {
    this.#unfollow();
    try {
      const step = await get<StepShape>(this.#path);
      if (this.#isEnded) return;
      this.trouble.set(undefined);
      this.step.set({ ...step, partial: '' });
      if (step.outcome === null) this.#follow();
    } catch (error) {
      if (!this.#isEnded) this.trouble.set(troubleFrom(error));
    }
  }

  #follow(): void {
    this.#unfollow = follow({
      address: () => `${this.#path}/live?after=${this.step.value?.cursor ?? 0}`,
      onEvent: (event) => this.#take(event),
      onConnection: (connection) => {
        if (!this.#isEnded) this.connection.set(connection);
      },
    });
  }

  #take({ name, id, data }: ServerEvent): 'end' | undefined {
    const step = this.step.value;
    if (!step || this.#isEnded) return 'end';
    switch (name) {
      case 'message':
        this.step.set({
          ...step,
          ...withMessages(step, JSON.parse(data), Number(id)),
          partial: '',
        });
        return undefined;
      case 'partial':
        this.step.set({ ...step, partial: String(JSON.parse(data).text) });
        return undefined;
      case 'outcome': {
        const outcome: StepOutcomeShape = JSON.parse(data);
        this.step.set({ ...step, partial: '', outcome });
        return 'end';
      }
      case 'gone': {
        const { error }: ErrorBody = JSON.parse(data);
        this.connection.set({ kind: 'refused', trouble: error });
        return 'end';
      }
      default:
        return undefined;
    }
  }
}
