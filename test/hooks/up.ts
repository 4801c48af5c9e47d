/** `raymond up` as a process that listens for deliveries, and a sender. */
import { createHmac } from 'node:crypto';
import { eventually } from '../eventually.ts';
import type { Circumstances, Project, Started } from '../raymond.ts';

export interface RunningUp extends Started {
  /** `http://127.0.0.1:port` */
  readonly address: string;
  /** Ends it with a signal, and waits for its end. */
  end(signal?: NodeJS.Signals): Promise<void>;
}

export async function startUp(
  project: Project,
  args: readonly string[] = [],
  more: Circumstances = {},
): Promise<RunningUp> {
  const started = project.start(['up', '--listen', '127.0.0.1:0', ...args], more);
  const address = () => /Listens at (http:\S+)\/hooks\//.exec(started.stderr())?.[1];
  await eventually('raymond up listens', () => {
    if (started.child.exitCode !== null) throw new Error(started.stderr());
    return address() !== undefined;
  });
  return {
    ...started,
    address: address() ?? '',
    end: async (signal = 'SIGTERM') => {
      started.child.kill(signal);
      await started.ended;
    },
  };
}

export type SignedHeaders = Readonly<Record<string, string>>;

export function standardHeaders(
  secret: string,
  id: string,
  body: string,
  seconds = Math.floor(Date.now() / 1000),
): SignedHeaders {
  const sum = createHmac('sha256', secret).update(`${id}.${seconds}.${body}`).digest('base64');
  return { 'webhook-id': id, 'webhook-timestamp': `${seconds}`, 'webhook-signature': `v1,${sum}` };
}

export function githubHeaders(secret: string, id: string, body: string): SignedHeaders {
  const sum = createHmac('sha256', secret).update(body).digest('hex');
  return { 'x-github-delivery': id, 'x-hub-signature-256': `sha256=${sum}` };
}

/** The status and the word of the reply. */
export async function deliver(url: string, body: string, headers: SignedHeaders): Promise<string> {
  const response = await fetch(url, {
    ...{ method: 'POST', body },
    headers: { 'content-type': 'application/json', ...headers },
  });
  const said = (await response.json()) as { status?: string; error?: { code: string } };
  return `${response.status} ${said.status ?? said.error?.code}`;
}
