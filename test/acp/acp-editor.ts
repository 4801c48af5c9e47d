/** An editor that speaks the Agent Client Protocol: the client of the protocol's own library. */
import { type ChildProcess, spawn } from 'node:child_process';
import { Readable, Writable } from 'node:stream';
import {
  type ClientContext,
  client,
  methods,
  ndJsonStream,
  type PromptRequest,
  type RequestPermissionRequest,
  type SessionUpdate,
} from '@agentclientprotocol/sdk';
import { onTestFinished } from 'vitest';
import { BIN } from '../raymond.ts';

export interface AcpEditor {
  readonly agent: ClientContext;
  readonly process: ChildProcess;
  readonly updates: readonly SessionUpdate[];
  readonly asked: readonly RequestPermissionRequest[];
  /** What `raymond acp` wrote to standard error. */
  errors(): string;
  /** All messages of the agent so far, as one text. */
  said(): string;
  newSession(): Promise<{ readonly sessionId: string; readonly modes: readonly string[] }>;
  prompt(sessionId: string, text: string): Promise<string>;
  cancel(sessionId: string): Promise<void>;
}

export async function acpEditor(
  { folder, environment }: { readonly folder: string; readonly environment: object },
  args: readonly string[] = [],
  choose: (request: RequestPermissionRequest) => string | undefined = () => undefined,
): Promise<AcpEditor> {
  const server = spawn(process.execPath, [BIN, 'acp', ...args], {
    cwd: folder,
    env: { ...environment },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  onTestFinished(() => void server.kill('SIGKILL'));
  let errors = '';
  server.stderr.setEncoding('utf8').on('data', (text) => {
    errors += text;
  });
  server.stdin.on('error', () => {});
  const updates: SessionUpdate[] = [];
  const asked: RequestPermissionRequest[] = [];
  const { agent } = client({ name: 'test' })
    .onNotification(methods.client.session.update, ({ params }) => void updates.push(params.update))
    .onRequest(methods.client.session.requestPermission, ({ params }) => {
      asked.push(params);
      const optionId = choose(params);
      return {
        outcome:
          optionId === undefined ? { outcome: 'cancelled' } : { outcome: 'selected', optionId },
      };
    })
    .connect(ndJsonStream(Writable.toWeb(server.stdin), Readable.toWeb(server.stdout)));
  await agent.request(methods.agent.initialize, { protocolVersion: 1, clientCapabilities: {} });
  return {
    agent,
    process: server,
    updates,
    asked,
    errors: () => errors,
    said: () =>
      updates
        .map((update) =>
          update.sessionUpdate === 'agent_message_chunk' && update.content.type === 'text'
            ? update.content.text
            : '',
        )
        .join(''),
    async newSession() {
      const made = await agent.request(methods.agent.session.new, { cwd: folder, mcpServers: [] });
      const modes = made.modes?.availableModes.map(({ id }) => id) ?? [];
      return { sessionId: made.sessionId, modes };
    },
    async prompt(sessionId, text) {
      const request: PromptRequest = { sessionId, prompt: [{ type: 'text', text }] };
      return (await agent.request(methods.agent.session.prompt, request)).stopReason;
    },
    cancel: (sessionId) => agent.notify(methods.agent.session.cancel, { sessionId }),
  };
}
