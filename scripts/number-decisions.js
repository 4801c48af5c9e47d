// Numbers the decision records from 1 without gaps, in their present order, and corrects every link to
// them. Run it at the root of the repository, after a merge that brought two records with one number or
// left a gap.
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const folder = 'docs/decisions';

const records = readdirSync(folder)
  .flatMap((name) => {
    const [, slug] = /^\d{4}-(.+)\.md$/.exec(name) ?? [];
    return slug === undefined ? [] : [{ name, slug }];
  })
  .sort((a, b) => a.name.localeCompare(b.name))
  .map(({ name, slug }, i) => ({ name, slug, number: i + 1, newName: `${pad(i + 1)}-${slug}.md` }));

// No name is free until all records have left theirs.
for (const { name, newName } of records)
  renameSync(join(folder, name), join(folder, `.${newName}`));
for (const { newName } of records) renameSync(join(folder, `.${newName}`), join(folder, newName));

for (const { number, newName } of records)
  rewrite(join(folder, newName), (text) => text.replace(/^# \d+\. /, `# ${number}. `));

const numbers = new Map(records.map(({ slug, number }) => [slug, number]));
const tracked = execFileSync('git', ['ls-files', '-co', '--exclude-standard']);
for (const file of tracked.toString().split('\n')) {
  if (/\.(md|ts|tsx|js)$/.test(file)) rewrite(file, withRightNumbers);
}

/** Slugs never change, so a link with an old number still says which record it means. */
function withRightNumbers(text) {
  const link = /(?:(\[(?:decision )?)\d+(\]\([^)\s]*))?\b\d{4}-([a-z0-9-]+)\.md/gi;
  return text.replace(link, (all, before, after, slug) => {
    const number = numbers.get(slug);
    if (number === undefined) return all;
    return `${before ? `${before}${number}${after}` : ''}${pad(number)}-${slug}.md`;
  });
}

function rewrite(file, change) {
  let text;
  try {
    text = readFileSync(file, 'utf8');
  } catch {
    return; // Git still lists a file under its old name.
  }
  const changed = change(text);
  if (changed !== text) writeFileSync(file, changed);
}

function pad(number) {
  return String(number).padStart(4, '0');
}
