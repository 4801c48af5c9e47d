import { type InboxItem, inbox as whatWaits } from '../../app/inbox.ts';
import { approvalForm, iso, isoOrNull, permissionForm } from '../../look/run-form.ts';
import { counted } from '../../model/counted.ts';
import { requestText } from '../../model/permission.ts';
import { asksText, duration, filesText, signaturesText, time } from '../../observe/words.ts';
import type { Here } from '../../world/surroundings.ts';
import { stderr, stdout } from '../terminal/terminal.ts';
import { showNotice } from '../terminal/terminal-door.ts';

/** Lists what waits for the person in all projects. */
export async function inbox(here: Here, { json }: { readonly json?: boolean }): Promise<number> {
  const around = await here();
  const { items, notices } = await whatWaits(around);
  notices.forEach(showNotice);
  if (json) for (const item of items) stdout.json(formOf(item));
  else if (items.length === 0) stderr.say('Nothing waits for you.');
  else show(items, around.clock.now());
  return 0;
}

function show(items: readonly InboxItem[], now: number): void {
  const verb = items.length === 1 ? 'waits' : 'wait';
  stdout.say(`${counted(items.length, 'item')} ${verb} for you. The oldest first:`);
  for (const { project, run, item, command } of items) {
    const request = item.kind === 'request' ? item : undefined;
    const deadline = item.kind === 'asking' ? item.deadline : undefined;
    const until = deadline === undefined ? '' : `, until ${time(deadline, now)}`;
    stdout.say('', project ?? 'In the database');
    stdout.say(
      `${run}: ${item.agent} ${asksText(request)}, for ${duration(now - item.askedAt)}${until}`,
    );
    const signatures = item.kind === 'asking' ? signaturesText(item) : undefined;
    if (signatures !== undefined) stdout.say(`It ${signatures}.`);
    stdout.quote(beginning(item.kind === 'request' ? requestText(item) : item.question));
    const files = item.kind === 'asking' ? filesText(item.files) : '';
    if (files !== '') stdout.say(`Files: ${files}`);
    stdout.offer(`  ${command}`);
  }
}

/** The command shows the rest. */
function beginning(text: string): string {
  const lines = text.slice(0, MOST_LETTERS).split('\n');
  const shown = lines.slice(0, MOST_LINES).join('\n');
  return shown.length < text.trimEnd().length ? `${shown} …` : shown;
}

const MOST_LINES = 5;
const MOST_LETTERS = 600;

function formOf({ project, run, workflow, item, command }: InboxItem) {
  const place = { project: project ?? null, run, workflow, agent: item.agent };
  return item.kind === 'request'
    ? { kind: 'permission', ...place, ...permissionForm(item), command }
    : {
        kind: 'question',
        ...place,
        question: item.question,
        asked_at: iso(item.askedAt),
        deadline: isoOrNull(item.deadline),
        approval: approvalForm(item),
        files: item.files ?? [],
        command,
      };
}
