import { expect, test } from 'vitest';
import { isUsable } from './remote.ts';

test.each([
  ['https://example.org/x.git', true],
  ['https://me:secret@example.org/x.git', true],
  ['ssh://git@example.org:22/x.git', true],
  ['git@example.org:x.git', true],
  ['file:///srv/x.git', true],
  ['/srv/mit Leerzeichen/x.git', true],
  ['ext::sh -c "touch x"', false],
  ['fd::17', false],
  ['testgit::/srv/x', false],
  ['-oProxyCommand=touch x', false],
  ['--upload-pack=touch x', false],
  ['ssh://-oProxyCommand=touch/x', false],
  ['ssh://me@-oProxyCommand=touch/x', false],
  ['-x@example.org:x', false],
  ['me@-oProxyCommand=touch:x', false],
  ['x.git', false],
  ['', false],
])('%s can be used as a remote: %s', (url, expected) => {
  expect(isUsable(url)).toBe(expected);
});
