import { expect, test } from 'vitest';
import { rightsIn } from './rights.ts';

test.each<[string, unknown]>([
  ['{ write: [src, test], hide: [~/notes] }', { write: ['src', 'test'], hide: ['~/notes'] }],
  ['{ write: [] }', { write: [] }],
  ['write:', { write: [] }],
  ['{ network: none }', { network: 'none' }],
  [
    'network: [api.github.com, "*.npmjs.org:443", 127.0.0.1:80, "[::1]:8080"]',
    {
      network: ['api.github.com', '*.npmjs.org:443', '127.0.0.1:80', '[::1]:8080'],
    },
  ],
  ['{}', {}],
  ['secrets: [GH_TOKEN, NPM_TOKEN]', { secrets: ['GH_TOKEN', 'NPM_TOKEN'] }],
  ['secrets: []', { secrets: [] }],
  ['write: [~/x, /y, ../z]', { write: ['~/x', '/y', '../z'] }],
])('%s', (text, rights) => {
  expect(rightsIn(text)).toEqual(rights);
});

test.each<[string, string]>([
  ['{ wirte: [] }', 'Did you mean write?'],
  ['write: src', 'a list of paths'],
  ['write: [~root/x]', 'a list of paths'],
  ['write: [""]', 'a list of paths'],
  ['network: some', 'none, all, or a list of hosts'],
  ['network: ["*"]', 'none, all, or a list of hosts'],
  ['network: ["https://a.org"]', 'none, all, or a list of hosts'],
  ['network: [a.org/x]', 'none, all, or a list of hosts'],
  ['network: ["a.org:99999"]', 'none, all, or a list of hosts'],
  ['secrets: GH_TOKEN', 'a list of names'],
  ['secrets: [PATH]', 'a list of names'],
  ['secrets: [LD_PRELOAD]', 'a list of names'],
  ['secrets: ["a b"]', 'a list of names'],
  ['[]', 'a map like'],
  ['{', 'not valid YAML'],
])('%s is refused', (text, why) => {
  expect(rightsIn(text)).toContain(why);
});
