/** What an editor shows of the events of a run: messages, and a tool call for each step. */
import type { SessionUpdate, ToolCallUpdate } from '@agentclientprotocol/sdk';
import type { StepMessage } from '../model/conversation.ts';
import type { RunEvent } from '../model/event.ts';
import type { PermissionRequest } from '../model/permission.ts';
import { isOffered, requestText } from '../model/permission.ts';
import type { Run } from '../model/run.ts';
import { visible } from '../model/visible.ts';
import type { Describer } from '../observe/describe.ts';

/** A line about the event, as in the logs, and what becomes of the tool call of its step. */
export function updatesOf(
  event: RunEvent,
  before: Run | undefined,
  after: Run,
  describer: Describer,
): readonly SessionUpdate[] {
  const step = stepUpdate(event);
  const line = describer.describe(event, before, after);
  const isShown = line && line.tone !== 'detail' && event.type !== 'step-started';
  const said = isShown ? [message(`${line.who}: ${line.text}\n\n`)] : [];
  return [...(step ? [step] : []), ...(isForPerson(event) ? [] : said)];
}

export function message(text: string): SessionUpdate {
  return {
    sessionUpdate: 'agent_message_chunk',
    content: { type: 'text', text: visible(text) },
  };
}

/** The question as the last message of a turn. The next prompt is its answer. */
export const questionMessage = (agent: string, question: string) =>
  message(`${agent} asks:\n\n${question}\n`);

/** The session asks for these itself. */
const isForPerson = ({ type }: RunEvent) => type === 'agent-asked' || type === 'permission-asked';

function stepUpdate(event: RunEvent): SessionUpdate | undefined {
  switch (event.type) {
    case 'step-started':
      return {
        sessionUpdate: 'tool_call',
        toolCallId: callId(event),
        title: `${visible(event.state)} (${event.agent})`,
        kind: event.session === undefined ? 'execute' : 'think',
        status: 'in_progress',
      };
    case 'step-ended':
      return { sessionUpdate: 'tool_call_update', toolCallId: callId(event), status: 'completed' };
    case 'step-failed':
    case 'step-interrupted':
      return { sessionUpdate: 'tool_call_update', toolCallId: callId(event), status: 'failed' };
    default:
      return undefined;
  }
}

const callId = ({ agent, step }: { readonly agent: string; readonly step: number }) =>
  `${agent}:${step}`;

/** What the agent of a step says and does, in the words of the protocol. */
export function stepMessageUpdates(
  at: { readonly agent: string; readonly step: number },
  said: StepMessage,
): readonly SessionUpdate[] {
  const content = (text: string) => ({ type: 'text' as const, text: visible(text) });
  switch (said.kind) {
    case 'text':
      return [{ sessionUpdate: 'agent_message_chunk', content: content(`${said.text}\n\n`) }];
    case 'thinking':
      return [{ sessionUpdate: 'agent_thought_chunk', content: content(said.text) }];
    case 'tool-call':
      return [
        {
          sessionUpdate: 'tool_call',
          toolCallId: `${callId(at)}:${said.id}`,
          title: visible(said.summary || said.name),
          kind: 'other',
          status: 'in_progress',
        },
      ];
    case 'tool-result':
      return [
        {
          sessionUpdate: 'tool_call_update',
          toolCallId: `${callId(at)}:${said.call}`,
          status: said.failed ? 'failed' : 'completed',
          content: [{ type: 'content', content: content(said.text) }],
        },
      ];
    default:
      return [];
  }
}

/** A tool call of an agent that needs a decision. */
export function permissionCall(
  at: { readonly agent: string; readonly step: number },
  request: PermissionRequest,
): ToolCallUpdate {
  return {
    toolCallId: `${callId(at)}:${request.request}`,
    title: visible(`${at.agent}: ${request.summary}`),
    kind: 'execute',
    status: 'pending',
    content: [{ type: 'content', content: { type: 'text', text: visible(requestText(request)) } }],
  };
}

export const permissionOptions = (request: PermissionRequest) => [
  { optionId: 'allow', name: 'Allow', kind: 'allow_once' as const },
  ...(isOffered(request, 'allow-run')
    ? [{ optionId: 'allow-run', name: 'Allow for this run', kind: 'allow_always' as const }]
    : []),
  { optionId: 'deny', name: 'Deny', kind: 'reject_once' as const },
];
