/** A client of `raymond mcp`. */
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { onTestFinished } from 'vitest';
import { BIN, type Project } from '../raymond.ts';

export async function connected(
  project: Pick<Project, 'folder' | 'environment'>,
  ...options: readonly string[]
) {
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [BIN, 'mcp', ...options],
    cwd: project.folder,
    env: { ...project.environment },
    stderr: 'ignore',
  });
  const client = new Client({ name: 'test', version: '1' });
  await client.connect(transport);
  onTestFinished(() => client.close());
  const raw = async (name: string, given: Readonly<Record<string, unknown>> = {}) => {
    const answer = await client.callTool({ name, arguments: { ...given } });
    const [content] = answer.content;
    if (content?.type !== 'text') throw new Error(`${name} gave no text`);
    return { text: content.text, isError: answer.isError === true };
  };
  const call = async (name: string, given?: Readonly<Record<string, unknown>>) => {
    const { text, isError } = await raw(name, given);
    return { isError, ...JSON.parse(text) };
  };
  return { client, raw, call, pid: transport.pid ?? 0 };
}
