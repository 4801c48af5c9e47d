// The commands of docs/guide/it-starts-by-itself.md, with a real `raymond up` that listens.
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { freePort } from '../hooks/proxies.ts';
import { testConsoles } from './console.ts';
import { readDocument } from './documents.ts';
import { type DocumentProject, makeDocumentProject } from './project.ts';

const port = String(await freePort());
const shown = readDocument('docs/guide/it-starts-by-itself.md');
const blocks = shown.blocks.map((block) => ({
  ...block,
  text: block.text.replaceAll('8788', port),
}));
const listening = blocks.findIndex(({ text }) => text.startsWith('raymond up --listen'));

describe('it starts by itself', () => {
  let reader: DocumentProject;
  beforeAll(() => {
    reader = makeDocumentProject({ ...shown, blocks });
  });
  afterAll(() => reader?.remove());

  testConsoles(blocks.slice(0, listening), () => reader);

  describe('while it listens', () => {
    beforeAll(async () => {
      const command = blocks[listening]?.text.trim();
      const until = 'until grep -q "Listens at" up.log || ! kill -0 $!; do sleep 0.1; done';
      await reader.run(`${command} >up.log 2>&1 & ${until}`, 0);
      const { output } = await reader.run('cat up.log', 0);
      expect(output).toContain(`Listens at http://127.0.0.1:${port}/hooks/`);
    });

    testConsoles(blocks.slice(listening), () => reader);
  });
});
