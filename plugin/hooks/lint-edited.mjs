// After an edit of a file of a workflow, tells the agent what "raymond lint" finds in it. Lint only looks:
// it executes nothing. The edit stays as it is.
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, isAbsolute } from 'node:path';

const STATE = /\.(md|sh|ps1|bat)$/;
const ENTRY = /^(1_)?START\.(md|sh|ps1|bat)$/;
const MOST_FINDINGS = 20;

const workflow = workflowOf(editedFile());
if (workflow !== undefined) report(lint(workflow), workflow);

/** The file that the tool has changed, as the agent says on standard input. */
function editedFile() {
  try {
    const { tool_input: input } = JSON.parse(readFileSync(0, 'utf8'));
    const path = input?.file_path;
    return typeof path === 'string' && isAbsolute(path) ? path : undefined;
  } catch {
    return undefined;
  }
}

/** The folder of the workflow to which a file belongs. Other files are none of our business. */
function workflowOf(file) {
  if (file === undefined) return undefined;
  const name = basename(file);
  const isPart = STATE.test(name) || name === 'workflow.yaml' || name.endsWith('.schema.json');
  if (!isPart || name.startsWith('.') || name === 'README.md') return undefined;
  try {
    const folder = dirname(file);
    return readdirSync(folder).some((one) => ENTRY.test(one)) ? folder : undefined;
  } catch {
    return undefined;
  }
}

/** No shell sees the path. On Windows, programs of npm need one, so there the hook does nothing. */
function lint(folder) {
  if (process.platform === 'win32') return [];
  const { stdout, error } = spawnSync('raymond', ['lint', '--json', '--level', 'warning', folder], {
    encoding: 'utf8',
    maxBuffer: 16 * 1024 * 1024,
    timeout: 50_000,
  });
  if (error) {
    process.stderr.write(
      `raymond lint: ${error.message}. Install Raymond, or disable its plugin.\n`,
    );
    process.exitCode = 1;
    return [];
  }
  return stdout.split('\n').flatMap((line) => {
    try {
      const { severity, file, line: at, message, remedy = '', code } = JSON.parse(line);
      return severity === undefined
        ? []
        : [`${file}:${at}: ${severity}: ${message} ${remedy} [${code}]`];
    } catch {
      return [];
    }
  });
}

/** Exit code 2 makes the agent read standard error. */
function report(findings, folder) {
  if (findings.length === 0) return;
  const more = findings.length - MOST_FINDINGS;
  const lines = [
    `raymond lint, after this edit of the workflow ${JSON.stringify(folder)}:`,
    ...findings.slice(0, MOST_FINDINGS),
    ...(more > 0 ? [`and ${more} more`] : []),
  ];
  // Names and texts of a workflow are data, also on the terminal of the agent.
  const inert = lines.map((line) => line.replace(/[\p{Cc}\p{Cf}]/gu, '?'));
  process.stderr.write(`${inert.join('\n')}\n`);
  process.exitCode = 2;
}
