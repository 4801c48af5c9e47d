import { useEffect, useState } from 'preact/hooks';
import { sizeText } from '../../src/model/kept-file.ts';
import type { QuestionShape } from '../../src/serve/shapes/questions.ts';
import { request, type Trouble, troubleFrom } from '../lib/api.ts';
import { visible } from '../lib/words.ts';

type ShownFile = QuestionShape['files'][number];

interface Props {
  readonly run: string;
  readonly files: readonly ShownFile[];
}

/** The files that a question shows. Pictures and texts can be seen here, and everything can be saved. */
export function QuestionFiles({ run, files }: Props) {
  if (files.length === 0) return null;
  return (
    <ul class="files" aria-label="Files of the question">
      {files.map((file) => (
        <li key={`${file.name} ${file.sha256}`}>
          <OneFile run={run} file={file} />
        </li>
      ))}
    </ul>
  );
}

type Content =
  | { readonly kind: 'image'; readonly url: string }
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'other' };

function OneFile({ run, file }: { readonly run: string; readonly file: ShownFile }) {
  const [isOpen, setOpen] = useState(false);
  const [content, setContent] = useState<Content>();
  const [trouble, setTrouble] = useState<Trouble>();
  const path = `/api/runs/${encodeURIComponent(run)}/files/${file.sha256}`;
  useEffect(() => {
    if (!isOpen || content) return;
    contentAt(path).then(setContent, (error) => setTrouble(troubleFrom(error)));
  }, [isOpen, content, path]);
  return (
    <details onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        {visible(file.name)} <span class="faint">{sizeText(file.bytes)}</span>
      </summary>
      {content?.kind === 'image' && <img src={content.url} alt={visible(file.name)} />}
      {content?.kind === 'text' && <pre class="words">{visible(content.text)}</pre>}
      {content?.kind === 'other' && <p class="faint small">This file can only be saved.</p>}
      {trouble && (
        <p class="small tone-fail" role="alert">
          {trouble.message} {trouble.remedy}
        </p>
      )}
      <button
        type="button"
        class="button quiet"
        onClick={() => save(path, file.name).catch((error) => setTrouble(troubleFrom(error)))}
      >
        Save
      </button>
    </details>
  );
}

/** The server says what a file is, by its content. A picture is shown from a data address, where it cannot act. */
async function contentAt(path: string): Promise<Content> {
  const response = await request(path);
  const type = response.headers.get('content-type') ?? '';
  if (type.startsWith('text/plain')) {
    const text = await response.text();
    const isLong = text.length > MOST_LETTERS;
    return { kind: 'text', text: isLong ? `${text.slice(0, MOST_LETTERS)} …` : text };
  }
  if (!type.startsWith('image/')) return { kind: 'other' };
  const reader = new FileReader();
  const url = new Promise<string>((resolve, reject) => {
    reader.onload = () => resolve(String(reader.result));
    reader.onerror = () => reject(reader.error);
  });
  reader.readAsDataURL(await response.blob());
  return { kind: 'image', url: await url };
}

const MOST_LETTERS = 100_000;

async function save(path: string, name: string): Promise<void> {
  const content = await (await request(path)).arrayBuffer();
  const url = URL.createObjectURL(new Blob([content], { type: 'application/octet-stream' }));
  const link = document.createElement('a');
  link.href = url;
  link.download = visible(name).split('/').at(-1) ?? 'file';
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}
