import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { launchdAgent, type Service, systemdUnit } from './service-files.ts';

/** Everything that has a meaning in a unit or in XML. */
const HARD = ['a b', 'ü', '%h%%', '$HOME', `'"`, '\\n', '&<>', '#;', '-x'];

function service(folder: string): Service {
  const directory = join(folder, `pro ject ü %h $HOME '"\\n&<`);
  mkdirSync(directory, { recursive: true });
  // It is Node; systemd accepts no quotes in the name of the program itself.
  const program = join(folder, 'no de ü %u $X &<');
  writeFileSync(program, '#!/bin/sh\n');
  chmodSync(program, 0o700);
  return {
    command: [program, join(directory, 'raymond.js'), 'up', ...HARD],
    directory,
    environment: { PATH: `/usr/bin:${directory}`, LANG: 'C.UTF-8' },
  };
}

const newFolder = () => mkdtempSync(join(tmpdir(), 'service-'));

test('systemd reads the unit, and finds a program whose path has every special character', () => {
  const folder = newFolder();
  const unit = join(folder, 'raymond.service');
  writeFileSync(unit, systemdUnit(service(folder)));
  const verify = (file: string) =>
    execFileSync('systemd-analyze', ['--user', 'verify', file], {
      env: { ...process.env, XDG_RUNTIME_DIR: folder },
      encoding: 'utf8',
      stdio: 'pipe',
    });
  expect(verify(unit)).toBe('');
  // The check would notice a program that it does not find.
  const wrong = join(folder, 'wrong.service');
  writeFileSync(wrong, systemdUnit({ ...service(folder), command: [join(folder, 'none')] }));
  expect(() => verify(wrong)).toThrow(/is not executable/);
});

test('the words of the unit are those that were given', () => {
  const [, ...words] = HARD;
  const unit = systemdUnit({
    command: ['/bin/raymond', ...words],
    directory: '/a b/%h',
    environment: { PATH: '/x y:/%h:/$z:/"' },
  });
  expect(unit.split('\n').filter((line) => /^(Exec|Work|Env|Kill)/.test(line))).toEqual([
    String.raw`ExecStart=:"/bin/raymond" "ü" "%%h%%%%" "$HOME" "'\"" "\\n" "&<>" "#;" "-x"`,
    'WorkingDirectory=/a b/%%h',
    String.raw`Environment="PATH=/x y:/%%h:/$z:/\""`,
    'KillMode=process',
  ]);
});

test('the agent of launchd is a property list with exactly what was given', () => {
  const given = service(newFolder());
  const folder = newFolder();
  const at = (name: string) => join(folder, name);
  // The form in which a machine keeps it.
  writeFileSync(at('text'), launchdAgent(given, '/log &'));
  execFileSync('plistutil', ['-i', at('text'), '-f', 'bin', '-o', at('binary')]);
  execFileSync('plistutil', ['-i', at('binary'), '-f', 'xml', '-o', at('again')]);
  expect(readPlist(readFileSync(at('again'), 'utf8'))).toEqual({
    Label: 'raymond.up',
    ProgramArguments: given.command,
    WorkingDirectory: given.directory,
    EnvironmentVariables: given.environment,
    RunAtLoad: true,
    KeepAlive: { SuccessfulExit: false },
    AbandonProcessGroup: true,
    Umask: 63,
    StandardErrorPath: '/log &',
  });
});

/** Reads the part of property lists that is needed here. Throws if the elements do not fit. */
function readPlist(text: string): unknown {
  const [, body = ''] = /<plist version="1.0">([\s\S]*)<\/plist>/.exec(text) ?? [];
  const tokens = body.match(/<[^>]+>|[^<]+/g)?.filter((token) => token.trim() !== '') ?? [];
  const next = () => tokens.shift() ?? '';
  const content = (name: string) => {
    const inside = next();
    expect(next()).toBe(`</${name}>`);
    return inside.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&');
  };
  const value = (): unknown => {
    const opening = next();
    if (opening === '<string>') return content('string');
    if (opening === '<integer>') return Number(content('integer'));
    if (opening === '<true/>' || opening === '<false/>') return opening === '<true/>';
    const entries: [string, unknown][] = [];
    const items: unknown[] = [];
    while (tokens[0] !== opening.replace('<', '</')) {
      if (opening === '<array>') items.push(value());
      else {
        expect([opening, next()]).toEqual(['<dict>', '<key>']);
        entries.push([content('key'), value()]);
      }
    }
    next();
    return opening === '<array>' ? items : Object.fromEntries(entries);
  };
  return value();
}
