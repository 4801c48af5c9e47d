// Makes a release: npm run release -- <version> [--dry-run]. The "Unreleased" section of CHANGELOG.md
// becomes the section of the version. Then the version, a commit and an annotated tag follow, and the
// section is printed as the release notes. Nothing is pushed or published.
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';

const CHANGELOG = 'CHANGELOG.md';
/** Files with the version of Raymond, and how often they have it. It comes before all other versions. */
const VERSIONED = {
  'package.json': 1,
  'package-lock.json': 2,
  'docs/reference/openapi.json': 1,
  'plugin/.claude-plugin/plugin.json': 1,
  'server.json': 2,
};

try {
  release();
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : error}\n`);
  process.exitCode = 1;
}

function release() {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { 'dry-run': { type: 'boolean' } },
  });
  const [version] = positionals;
  if (version === undefined || !/^\d+\.\d+\.\d+$/.test(version))
    throw new Error('Name the version of the release: npm run release -- 1.2.3');
  const before = JSON.parse(readFileSync('package.json', 'utf8')).version;
  const changelog = readFileSync(CHANGELOG, 'utf8');
  const notes = unreleasedNotes(changelog);

  const changed = git('status', '--porcelain');
  if (changed !== '') throw new Error(`Commit or remove these changes first:\n${changed}`);
  if (git('tag', '--list', `v${version}`) !== '')
    throw new Error(`The tag v${version} already exists. Choose another version.`);
  if (changelog.includes(`\n## ${version} - `))
    throw new Error(`${CHANGELOG} already has a section for ${version}. Choose another version.`);
  if (!isNewer(version, before))
    throw new Error(`${version} is not newer than ${before}. Choose a higher version.`);

  if (!values['dry-run']) {
    const day = new Date().toISOString().slice(0, 10);
    writeFileSync(
      CHANGELOG,
      changelog.replace('## Unreleased\n', () => `## Unreleased\n\n## ${version} - ${day}\n`),
    );
    for (const [file, count] of Object.entries(VERSIONED)) setVersion(file, count, before, version);
    git('add', CHANGELOG, ...Object.keys(VERSIONED));
    git('commit', '--quiet', '--message', `release: ${version}`);
    git('tag', '--annotate', '--cleanup=verbatim', '--message', notes, `v${version}`);
  }
  process.stdout.write(`${notes}\n`);
}

/** The text between the heading "Unreleased" and the next section. */
function unreleasedNotes(changelog) {
  const [, section] = /^## Unreleased\n([\s\S]*?)(?=^## |(?![\s\S]))/m.exec(changelog) ?? [];
  if (section === undefined)
    throw new Error(`${CHANGELOG} has no section "## Unreleased". Add one with the changes.`);
  if (section.trim() === '')
    throw new Error(`The section "## Unreleased" of ${CHANGELOG} is empty. Describe the changes.`);
  return section.trim();
}

function isNewer(version, before) {
  const [a, b] = [version, before].map((text) => text.split('.').map(Number));
  const at = a.findIndex((part, i) => part !== b[i]);
  return at !== -1 && a[at] > b[at];
}

function setVersion(file, count, before, version) {
  let left = count;
  const text = readFileSync(file, 'utf8').replaceAll(`"version": "${before}"`, (found) =>
    left-- > 0 ? `"version": "${version}"` : found,
  );
  writeFileSync(file, text);
}

function git(...args) {
  return execFileSync('git', args, { encoding: 'utf8' }).trim();
}
