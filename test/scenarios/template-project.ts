import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { newProject } from '../new-project.ts';
import { BIN, type Ended, type Project } from '../raymond.ts';
import { type FakeClaude, fakeClaude } from '../real-agent/fake-claude.ts';

const TEMPLATES = join(import.meta.dirname, '..', '..', 'templates');

export interface TemplateProject {
  readonly project: Project;
  readonly claude: FakeClaude;
  raymond(...args: readonly string[]): Promise<Ended>;
}

/**
 * A git repository with a template as the committed folder `flow`. The agent is a shell script: its
 * standard input is the prompt, and its output is the answer.
 */
export async function templateProject(
  template: string,
  files: Readonly<Record<string, string>>,
  agent: string,
): Promise<TemplateProject> {
  const project = newProject(files, 'a project');
  cpSync(join(TEMPLATES, template), project.path('flow'), { recursive: true });
  git(project, 'init', '-q', '-b', 'main');
  git(project, 'config', 'user.name', 'x');
  git(project, 'config', 'user.email', 'x@x');
  commitAll(project, 'first');
  const claude = await fakeClaude('obeys a command');
  const env = {
    ...claude.environment,
    FAKE_CLAUDE_COMMAND: agent,
    PATH: `${commandFolder(project)}${delimiter}${process.env.PATH}`,
  };
  return { project, claude, raymond: (...args) => project.run(args, { env }) };
}

export function git(project: Project, ...args: readonly string[]): string {
  return execFileSync('git', args, { cwd: project.folder, encoding: 'utf8' }).trim();
}

export function commitAll(project: Project, subject: string): void {
  git(project, 'add', '.', ':(exclude).raymond');
  git(project, 'commit', '-q', '-m', subject);
}

/** Scripts call `raymond tag`. */
function commandFolder(project: Project): string {
  const folder = join(dirname(project.folder), 'bin');
  mkdirSync(folder);
  const command = `#!/bin/sh\nexec '${process.execPath}' '${BIN}' "$@"\n`;
  writeFileSync(join(folder, 'raymond'), command, { mode: 0o755 });
  return folder;
}
