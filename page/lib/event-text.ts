/** One line about an event, for the log. Events that only matter to the program have none. */
import { isEstimate } from '../../src/model/estimate.ts';
import type { JournaledEvent } from '../../src/model/event.ts';
import type { Cost } from '../../src/model/step-account.ts';
import { usd } from '../../src/observe/words.ts';
import { oneLine } from './words.ts';

export interface EventText {
  readonly text: string;
  readonly tone: 'plain' | 'fail' | 'wait' | 'done';
}

export function eventText(event: JournaledEvent): EventText | undefined {
  switch (event.type) {
    case 'run-started':
      return plain(`The run starts at ${event.state}.`);
    case 'run-resumed':
      return plain('The run continues.');
    case 'step-started':
      return plain(
        `${event.state}: step ${event.step} starts${event.task === 'state' ? '' : ` (${event.task})`}`,
      );
    case 'step-taken':
      return plain(`step ${event.step} begins on ${oneLine(event.worker)}`);
    case 'step-ended':
      return plain(`step ${event.step} ends${cost(event.cost)}`);
    case 'step-failed':
      return { tone: 'fail', text: `step ${event.step} fails: ${oneLine(event.failure.message)}` };
    case 'step-interrupted':
      return { tone: 'wait', text: `step ${event.step} was interrupted${cost(event.cost)}` };
    case 'agent-moved':
      return plain(`${event.tag} → ${event.state}`);
    case 'agent-forked':
      return plain(`forked by ${oneLine(event.parent)} at ${event.state}`);
    case 'agent-asked':
      return { tone: 'wait', text: `asks: ${oneLine(event.question)}` };
    case 'agent-answered':
      return plain(`was answered: ${oneLine(event.text)}`);
    case 'agent-reminded':
      return { tone: 'wait', text: `reminder ${event.number}: ${oneLine(event.failure.message)}` };
    case 'permission-asked':
      return {
        tone: 'wait',
        text: `asks permission: ${oneLine(`${event.tool} ${event.summary}`)}`,
      };
    case 'permission-answered':
      if (event.rule !== undefined) return plain(`allowed by a rule: ${oneLine(event.rule)}`);
      return plain(`permission: ${event.decision}${event.text ? `: ${oneLine(event.text)}` : ''}`);
    case 'run-rewound':
      return {
        tone: 'wait',
        text: event.to
          ? `The run goes back to before ${oneLine(event.to.agent)}:${event.to.step}.`
          : 'A rewind is taken back.',
      };
    case 'agent-failed':
      return { tone: 'fail', text: `fails: ${oneLine(event.failure.message)}` };
    case 'agent-ended':
      return { tone: 'done', text: `ends with: ${oneLine(event.result) || 'no result'}` };
    case 'join-started':
      return plain(`waits for ${event.workers.length} workers`);
    case 'join-reported':
      return plain(`has joined its workers, continues at ${event.state}`);
    case 'stop-requested':
      return { tone: 'wait', text: `The run stops: ${event.why}.` };
    case 'run-ended':
      return {
        tone: event.outcome === 'completed' ? 'done' : event.outcome === 'failed' ? 'fail' : 'wait',
        text: `The run ends: ${event.outcome}.`,
      };
    case 'workflow-read':
    case 'state-entered':
    case 'agent-woke':
    case 'join-closed':
    case 'worktree-settled':
      return undefined;
    default:
      return plain(event.type.replaceAll('-', ' '));
  }
}

const plain = (text: string): EventText => ({ text, tone: 'plain' });
const cost = (of: Cost) => (of.usd > 0 ? ` (${usd(of.usd, isEstimate(of))})` : '');
