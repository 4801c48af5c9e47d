import { replaceFile } from '../../journal/disk.ts';
import { makeProject } from '../../journal/project.ts';
import { UserError } from '../../model/user-error.ts';
import { configTemplate, readConfigFile } from '../config-file.ts';
import { currentProject, disk } from '../store.ts';
import { stderr, stdout } from '../terminal.ts';

/** Writes a config file with every option commented out; never over one that is there. */
export async function initConfig(): Promise<number> {
  const project = await currentProject();
  if (await disk.kind(project.configFile)) {
    throw new UserError(
      'config-exists',
      `${project.configFile} is there already.`,
      'Edit it, or remove it first.',
    );
  }
  await makeProject(disk, project);
  await replaceFile(disk, project.configFile, configTemplate());
  stderr.say(`Wrote ${project.configFile}`);
  return 0;
}

export async function showConfig({ json }: { readonly json?: boolean }): Promise<number> {
  const { configFile } = await currentProject();
  const config = await readConfigFile(configFile);
  if (json) {
    stdout.json({ file: configFile, ...config });
    return 0;
  }
  const lines = Object.entries(config).map(([key, value]) => `${key} = ${JSON.stringify(value)}`);
  stdout.say(`# ${configFile}`, ...lines);
  if (lines.length === 0) stdout.say('# Nothing is set. Make one: raymond --init-config');
  return 0;
}
