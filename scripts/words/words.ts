export { findings } from './find.ts';
export { markdownPassages } from './markdown.ts';
export { hashComments, sourcePassages } from './source.ts';
