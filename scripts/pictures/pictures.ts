/** The pictures of the documents, each one with the function that makes it. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { toSvg } from '../../src/draw/svg.ts';
import { graphOf } from '../../src/graph/graph.ts';
import { loadWorkflow } from '../../src/index.ts';
import { readDocument } from '../../test/docs/documents.ts';
import { liveViewPicture, movingPicture } from './live-view.ts';
import { timelinePicture } from './timeline.ts';

/** The name of a file in `docs/pictures`, and its content. */
export const PICTURES: Readonly<Record<string, () => Promise<string>>> = {
  'diagram.svg': diagramOfReadme,
  'live-view.svg': liveViewPicture,
  'run.svg': movingPicture,
  'timeline.svg': timelinePicture,
};

/** The workflow with which README.md begins. */
async function diagramOfReadme(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'raymond-pictures-'));
  try {
    for (const { file, text } of readDocument('README.md').blocks) {
      if (!file?.startsWith('fix/')) continue;
      mkdirSync(dirname(join(folder, file)), { recursive: true });
      writeFileSync(join(folder, file), text);
    }
    const workflow = await loadWorkflow('fix', { cwd: folder, platform: 'unix' });
    return toSvg(graphOf(workflow));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
