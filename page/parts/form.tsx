import type { ComponentChildren } from 'preact';
import { useId } from 'preact/hooks';
import type { Trouble } from '../lib/api.ts';

interface FieldProps {
  readonly label: string;
  readonly hint?: string;
  readonly children: (id: string, hint: string | undefined) => ComponentChildren;
}

export function Field({ label, hint, children }: FieldProps) {
  const id = useId();
  const hintId = hint === undefined ? undefined : `${id}h`;
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {children(id, hintId)}
      {hint !== undefined && (
        <p class="hint" id={hintId}>
          {hint}
        </p>
      )}
    </div>
  );
}

export function Problem({ trouble }: { readonly trouble: Trouble | undefined }) {
  if (!trouble) return null;
  return (
    <div class="problem anywhere" role="alert">
      <p>{trouble.message}</p>
      {trouble.remedy !== '' && <p>{trouble.remedy}</p>}
    </div>
  );
}

interface ActionsProps {
  readonly act: string;
  readonly isSending: boolean;
  readonly onClose: () => void;
}

export function Actions({ act, isSending, onClose }: ActionsProps) {
  return (
    <div class="actions">
      <button type="button" class="button" onClick={onClose}>
        Cancel
      </button>
      <button type="submit" class="button primary" disabled={isSending}>
        {act}
      </button>
    </div>
  );
}
