/**
 * What an agent must not change while a run works: Raymond's own files, and the workflow by which it
 * is led. The rules hold for its editing tools and for file commands in its shell.
 */
export interface Protected {
  /** `.raymond` of the project. */
  readonly projectFolder: string;
  /** Further files, absolute. */
  readonly files?: readonly string[];
  /** The files of a workflow, absolute. */
  readonly filesOf: (workflow: string) => readonly string[];
}

export function denyRules(
  { projectFolder, files = [], filesOf }: Protected,
  workflow: string,
): string[] {
  const own = escaped(projectFolder);
  const patterns = [
    // Everything but `runs` and `worktrees`, and in a run everything but `tasks`: there agents have
    // folders of their own. Case does not matter, and a class like
    // [!rw] is read as its opposite.
    `${own}/[a-qs-vx-z0-9._-]*`,
    `${own}/runs/*/[a-su-z0-9._-]*`,
    ...[...files, ...filesOf(workflow)].map(escaped),
  ];
  return TOOLS.flatMap((tool) => patterns.map((pattern) => `${tool}(/${pattern})`));
}

const TOOLS = ['Edit', 'Write', 'NotebookEdit'];

/** Patterns are read like those of a .gitignore file. */
function escaped(path: string): string {
  return path.replace(/[\\[\]*?!#]/g, '\\$&').replace(/ $/, '\\ ');
}
