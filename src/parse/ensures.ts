import type { TagName } from '../model/tag.ts';
import type { AllowedTransition, Ensure } from '../model/workflow.ts';
import { readComplete, tagNamed } from './pinned-transition.ts';
import { TAG_RULES } from './transition.ts';
import { COUNT } from './yaml-numbers.ts';
import type { Field, Item, YamlReader } from './yaml-reader.ts';

/** `{run: npm test, on: [result, goto DEPLOY], say: The tests must pass., tries: 3, else: {…}}` */
export function readEnsure(
  reader: YamlReader,
  item: Item,
  choices: readonly string[],
): Ensure | undefined {
  const expected = 'a map like {run: npm test, on: [result]}';
  const fields = reader.fields(item, 'A check', expected, ENSURE_KEYS);
  if (!fields) return undefined;
  const find = (name: string) => fields.find(({ key }) => key === name);
  const run = readRun(reader, item, find('run'));
  const on = find('on');
  const say = find('say');
  const tries = find('tries');
  const otherwise = find('else');
  const entries = on && readOn(reader, on);
  const text = say && reader.text(say, 'say', 'a text for the agent');
  const count = tries && reader.number(tries, 'tries', COUNT);
  const tag = otherwise && readComplete(reader, otherwise, 'else', choices);
  if (run === undefined) return undefined;
  return {
    run,
    ...(entries && { on: entries }),
    ...(text !== undefined && { say: text }),
    tries: count ?? USUAL_TRIES,
    ...(tag && { otherwise: tag }),
    ...reader.positionOf(item.offset),
  };
}

/** The number of reminders about a failed check, if the author names none. */
export const USUAL_TRIES = 3;

const ENSURE_KEYS: readonly string[] = ['run', 'on', 'say', 'tries', 'else'];

function readRun(reader: YamlReader, item: Item, field: Field | undefined): string | undefined {
  const command = field && reader.text(field, 'run', 'a command');
  if (field && command === undefined) return undefined;
  if (command !== undefined && command.trim() !== '') return command;
  return reader.error('bad-check', field?.offset ?? item.offset, 'A check has no command.', {
    remedy: 'Write the command that must succeed, like run: npm test.',
  });
}

/** `[result, goto DEPLOY]`: names of tags, each with or without its target. */
function readOn(reader: YamlReader, field: Field): readonly AllowedTransition[] | undefined {
  const items = reader.items(field, 'on', 'a list like [result, goto DEPLOY]');
  if (items?.length === 0) {
    return reader.error('bad-check', field.offset, 'on is empty, so the check never runs.', {
      remedy: 'Name a transition, like on: [result], or remove on to check every transition.',
    });
  }
  return items?.flatMap((item) => readTransitionName(reader, item) ?? []);
}

function readTransitionName(reader: YamlReader, item: Item): AllowedTransition | undefined {
  const written = reader.text(item, 'on', 'a transition like goto DEPLOY');
  if (written === undefined) return undefined;
  const [name = '', ...rest] = written.trim().split(/\s+/);
  const tag = tagNamed(reader, item, name);
  if (!tag) return undefined;
  const target = rest.join(' ');
  if (target !== '' && !hasTarget(tag)) {
    const message = `<${tag}> has no target that a check could name.`;
    return reader.error('bad-check', item.offset, message, { remedy: `Write on: [${tag}].` });
  }
  const position = reader.positionOf(item.offset);
  return { tag, ...(target !== '' && { body: target }), attributes: {}, ...position };
}

const hasTarget = (tag: TagName) => ['target', 'path'].includes(TAG_RULES[tag].body);
