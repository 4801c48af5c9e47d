import { test } from 'vitest';
import { DOCUMENT_PICTURES, takePagePictures } from './page-pictures.ts';

test('pictures of the page', async () => {
  await takePagePictures('docs/pictures', DOCUMENT_PICTURES);
  await takePagePictures('test/artefacts', []);
});
