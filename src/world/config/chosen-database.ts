import { join } from 'node:path';
import { readRegularFile } from '../../files/regular-file.ts';
import type { Surroundings } from '../surroundings.ts';
import { userConfigFolder } from './user-folders.ts';

/**
 * The URL of the database for the runs: of the command line or the environment, else of the config
 * files. Undefined if runs are files.
 */
export async function chosenDatabase(
  given: string | undefined,
  environment: NodeJS.ProcessEnv,
  { project, report }: Pick<Surroundings, 'project' | 'report'>,
): Promise<string | undefined> {
  const url = given ?? (await configured(project, report));
  if (url === undefined || url === '' || url === 'none') return undefined;
  const { completeUrl, takeVariables } = await import('../../postgres/variables.ts');
  return withStrictTls(completeUrl(url, takeVariables({ ...environment })));
}

/**
 * `pg` treats these modes as verify-full, and warns at each connection that a later version will not.
 * Raymond means verify-full, now and later.
 */
function withStrictTls(url: string): string {
  if (/[?&]uselibpqcompat=true(?:&|$)/.test(url)) return url;
  return url.replace(/([?&]sslmode=)(?:prefer|require|verify-ca)(?=&|$)/, '$1verify-full');
}

/** Most users have no such key, so a file is parsed only if it seems to have one. */
async function configured(
  project: Surroundings['project'],
  report: Surroundings['report'],
): Promise<string | undefined> {
  const files = [join(userConfigFolder(), 'config.toml'), project.configFile];
  const texts = await Promise.all(
    files.map((file) => readRegularFile(file, MAX_CONFIG_BYTES).catch(() => Buffer.of())),
  );
  if (!texts.some((text) => text.includes('database'))) return undefined;
  const { readConfiguration } = await import('./configuration.ts');
  const { options, project: ofProject } = await readConfiguration(project);
  if (ofProject.dangerous.database !== undefined && !ofProject.isTrusted)
    report(
      `${ofProject.file} is not trusted. Ignored: database`,
      'To see and approve it: raymond trust',
    );
  return options.database;
}

const MAX_CONFIG_BYTES = 1024 * 1024;
