/** `raymond secret`: the secrets of the user. No command prints a value. */
import { refuseInsideAny } from '../../app/refuse-inside.ts';
import { UserError } from '../../model/user-error.ts';
import { wrongUsage } from '../../options/wrong-usage.ts';
import { decodeUtf8 } from '../../parse/utf8.ts';
import { checkName, knownSecrets, removeSecret, storeSecret } from '../../world/secrets.ts';
import type { Here } from '../../world/surroundings.ts';
import { isAttended, keyReader, standardInput, stderr, stdout } from '../terminal/terminal.ts';

export async function secret(
  here: Here,
  action: string,
  name: string | undefined,
  { json }: { readonly json?: boolean },
): Promise<number> {
  if (action === 'list' && name === undefined) return list(json === true);
  if ((action !== 'set' && action !== 'remove') || name === undefined)
    throw wrongUsage(
      `"raymond secret ${[action, name ?? ''].join(' ').trim()}" cannot be understood.`,
      'Write: raymond secret set NAME, raymond secret list, or raymond secret remove NAME',
    );
  checkName(name);
  await refuseInsideAny(await here(), 'change secrets');
  return action === 'set' ? set(name) : remove(name);
}

async function list(json: boolean): Promise<number> {
  const known = await knownSecrets();
  if (json) stdout.json(known.map(({ name, from }) => ({ name, from })));
  else if (known.length === 0)
    stderr.say('There are no secrets. To set one: raymond secret set NAME');
  const width = Math.max(...known.map(({ name }) => name.length));
  if (!json) stdout.say(...known.map(({ name, from }) => `${name.padEnd(width)}  ${from}`));
  return 0;
}

async function set(name: string): Promise<number> {
  const typed = isAttended()
    ? await typedInSecret(`Type the value of ${name}, which is not shown, then press Enter:`)
    : undefined;
  const text = typed ?? (await pipedText());
  if (text === undefined)
    throw new UserError('bad-secret', `The value of ${name} is not text.`, 'Give it as UTF-8.');
  await storeSecret(name, text.replace(/\r?\n$/, ''));
  stderr.say(`Saved ${name}. States whose rights have "secrets: [${name}]" can use it.`);
  const { from } = (await knownSecrets()).find((one) => one.name === name) ?? {};
  if (from !== undefined && !from.startsWith('raymond'))
    stderr.say(`It has no effect while your configuration says where ${name} is: ${from}.`);
  return 0;
}

async function remove(name: string): Promise<number> {
  const known = (await knownSecrets()).find((one) => one.name === name);
  if (!(await removeSecret(name)))
    throw new UserError(
      'no-secret',
      known ? `${name} was not set with "raymond secret set".` : `There is no secret ${name}.`,
      known ? `Change its source: ${known.from}.` : 'See them with: raymond secret list',
    );
  stderr.say(`Removed ${name}.`);
  return 0;
}

/** Undefined if it is not UTF-8. */
async function pipedText(): Promise<string | undefined> {
  const parts: Buffer[] = [];
  for await (const part of standardInput()) parts.push(part);
  const decoded = decodeUtf8(Buffer.concat(parts));
  return decoded.ok ? decoded.text : undefined;
}

/** A line that the terminal does not show. Undefined if no keys can be read. */
async function typedInSecret(question: string): Promise<string | undefined> {
  let text = '';
  const line = await new Promise<string | undefined>((resolve, reject) => {
    const keys = keyReader((piece) => {
      for (const key of piece) {
        if (key === '\r' || key === '\n') return end(() => resolve(text));
        if (key === '\x03' || key === '\x04')
          return end(() =>
            reject(new UserError('stopped', 'Nothing was saved.', 'Run the command again.')),
          );
        text = key === '\x7f' || key === '\b' ? text.slice(0, -1) : text + key;
      }
    });
    const end = (settle: () => void) => {
      keys?.close();
      settle();
    };
    if (!keys) return resolve(undefined);
    stderr.say(question);
    keys.take();
  });
  return line;
}
