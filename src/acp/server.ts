/** Workflows as an agent for editors that speak the Agent Client Protocol. */
import { Readable, Writable } from 'node:stream';
import {
  type AgentContext,
  agent,
  type ContentBlock,
  methods,
  ndJsonStream,
  type PromptResponse,
  RequestError,
  type RequestPermissionRequest,
  type SessionModeState,
} from '@agentclientprotocol/sdk';
import type { RunControl } from '../app/for-programs.ts';
import { UserError } from '../model/user-error.ts';
import { Session } from './session.ts';

export interface AgentParts {
  readonly input: Readable;
  readonly output: Writable;
  readonly version: string;
  /** The only workflow; absent if the person chooses one for each session. */
  readonly workflow: string | undefined;
  /** The verbs for the project in a directory. */
  control(directory: string): Promise<RunControl>;
  /** The workflows in a directory. */
  workflows(directory: string): Promise<readonly string[]>;
  newId(): string;
}

/** The messages with which an editor acts, and the one with which it is asked. */
export const ANSWERED: readonly string[] = [
  methods.agent.session.new,
  methods.agent.session.load,
  methods.agent.session.setMode,
  methods.agent.session.prompt,
  methods.agent.session.cancel,
  methods.client.session.requestPermission,
];

/** Serves one editor until it leaves. Its runs continue without it. */
export async function serveAgent(parts: AgentParts): Promise<void> {
  const sessions = new Map<string, Session>();
  /** An editor that has left hears nothing more, and that is no fault. */
  const unlessClosed = <T>(sending: Promise<T>): Promise<T | undefined> =>
    sending.catch((error: unknown) => {
      if (connection.signal.aborted) return undefined;
      throw error;
    });
  const open = async (id: string, cwd: string, client: AgentContext) => {
    const session = new Session(
      id,
      await parts.control(cwd),
      {
        update: (update) =>
          unlessClosed(client.notify(methods.client.session.update, { sessionId: id, update })),
        async decide(toolCall, options) {
          const request: RequestPermissionRequest = { sessionId: id, toolCall, options };
          const method = methods.client.session.requestPermission;
          const answer = await unlessClosed(client.request(method, request));
          return answer?.outcome.outcome === 'selected' ? answer.outcome.optionId : undefined;
        },
      },
      parts.workflow,
    );
    sessions.set(id, session);
    return session;
  };
  const find = (id: string) => {
    const session = sessions.get(id);
    if (session) return session;
    throw new RequestError(INVALID, `There is no session ${id}.`);
  };
  const app = agent({ name: 'raymond' })
    .onRequest(methods.agent.initialize, () => ({
      protocolVersion: 1,
      agentCapabilities: {
        loadSession: true,
        promptCapabilities: { embeddedContext: true },
      },
      agentInfo: { name: 'raymond', title: 'Raymond', version: parts.version },
      authMethods: [],
    }))
    .onRequest(methods.agent.session.new, ({ params: { cwd }, client }) =>
      told(async () => {
        const sessionId = `acp-${parts.newId().slice(0, 8)}`;
        const session = await open(sessionId, cwd, client);
        const modes = await modesIn(parts, cwd);
        session.workflow ??= modes?.currentModeId;
        return { sessionId, ...(modes && { modes }) };
      }),
    )
    .onRequest(methods.agent.session.load, ({ params: { cwd, sessionId }, client }) =>
      told(async () => {
        const session = await open(sessionId, cwd, client);
        const modes = await modesIn(parts, cwd);
        session.workflow ??= modes?.currentModeId;
        if (await session.load()) return modes ? { modes } : {};
        sessions.delete(sessionId);
        throw new RequestError(INVALID, `There is no run ${sessionId} in ${cwd}.`);
      }),
    )
    .onRequest(methods.agent.session.setMode, ({ params: { sessionId, modeId } }) => {
      if (parts.workflow === undefined) find(sessionId).workflow = modeId;
      return {};
    })
    .onRequest(methods.agent.session.prompt, ({ params: { sessionId, prompt } }) =>
      told<PromptResponse>(() => find(sessionId).prompt(textIn(prompt))),
    )
    .onNotification(methods.agent.session.cancel, ({ params: { sessionId } }) =>
      sessions.get(sessionId)?.cancel(),
    );
  const { input, output } = parts;
  const stream = ndJsonStream(Writable.toWeb(output), Readable.toWeb(input));
  const connection = app.connect(stream);
  await connection.closed;
  for (const session of sessions.values()) session.leave();
}

const INVALID = -32602;
const REFUSED = -32000;

/** The workflows of the project, of which the person chooses one. */
async function modesIn(
  { workflow, workflows }: AgentParts,
  cwd: string,
): Promise<SessionModeState | undefined> {
  const found = workflow === undefined ? await workflows(cwd) : [];
  const [first] = found;
  if (first === undefined) return undefined;
  return {
    currentModeId: first,
    availableModes: found.map((path) => ({ id: path, name: path })),
  };
}

/** An error of the user in the form of the protocol. */
async function told<T>(act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    throw new RequestError(REFUSED, `${error.message} ${error.remedy}`, { code: error.code });
  }
}

/** The words of a prompt, with the addresses of what it links to. */
function textIn(prompt: readonly ContentBlock[]): string {
  return prompt
    .flatMap((block) => {
      if (block.type === 'text') return block.text;
      if (block.type === 'resource_link') return block.uri;
      if (block.type !== 'resource') return [];
      const { resource } = block;
      return 'text' in resource ? `${resource.uri}\n${resource.text}` : resource.uri;
    })
    .join('\n');
}
