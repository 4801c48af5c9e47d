import { useState } from 'preact/hooks';
import { Icon } from './icons.tsx';

/** Copies a text as it was written, not as it is shown. */
export function CopyButton({ text }: { readonly text: () => string }) {
  const [isCopied, setCopied] = useState(false);
  return (
    <button
      type="button"
      class="button quiet only-icon copy"
      aria-label={isCopied ? 'Copied' : 'Copy'}
      title={isCopied ? 'Copied' : 'Copy'}
      onClick={() => {
        navigator.clipboard.writeText(text()).then(
          () => setCopied(true),
          () => setCopied(false),
        );
      }}
      onBlur={() => setCopied(false)}
      onMouseLeave={() => setCopied(false)}
    >
      <Icon name={isCopied ? 'tick' : 'copy'} />
    </button>
  );
}
