/** A server in the process of the test, for a project of its own. */
import { request } from 'node:http';
import { forPrograms } from '../../src/app/for-programs.ts';
import { pastRuns } from '../../src/app/past-runs.ts';
import type { ServeParts } from '../../src/serve/answers.ts';
import { projectWorkflows } from '../../src/world/project-workflows.ts';
import { surroundings } from '../../src/world/surroundings.ts';
import { looseLibrary } from '../../src/world/wire.ts';
import type { Project } from '../raymond.ts';

export async function partsFor(project: Pick<Project, 'folder'>): Promise<ServeParts> {
  const around = await surroundings({ cwd: project.folder });
  return {
    project: project.folder,
    store: around.store,
    control: forPrograms(around),
    steps: await around.world.steps(),
    workflow: (ref) => looseLibrary(around.cwd, {}).load(ref),
    workflows: () => projectWorkflows(around.cwd),
    pasts: (workflow, files) => pastRuns(around.store, workflow, files),
    page: async (file) => `the file ${file}`,
    now: () => Date.now(),
    alarmsOf: () => [],
    version: 'test',
    report: (error) => {
      throw error;
    },
  };
}

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
}

export interface Ask {
  readonly port: number;
  readonly method?: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/**
 * Sends exactly these headers: a browser would not let a page set some of them. A stream is cut after
 * its head.
 */
export function ask({ port, method = 'GET', path, headers = {}, body }: Ask): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const sent = request(
      { host: '127.0.0.1', port, method, path, setHost: false, headers, agent: false },
      (response) => {
        const { statusCode: status = 0, headers } = response;
        if (`${headers['content-type']}`.startsWith('text/event-stream')) {
          resolve({ status, headers, text: '' });
          response.destroy();
          return;
        }
        let text = '';
        response.setEncoding('utf8').on('data', (part) => {
          text += part;
        });
        response.on('end', () => resolve({ status, headers, text }));
        response.on('error', reject);
      },
    );
    sent.on('error', reject);
    sent.end(body);
  });
}
