import type { ComponentChildren } from 'preact';
import { useId } from 'preact/hooks';
import type { Trouble } from '../lib/api.ts';
import { Icon } from './icons.tsx';

interface FieldProps {
  readonly label: string;
  readonly hint?: string | undefined;
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

interface ValueProps {
  readonly hint?: string;
  readonly value: string;
  readonly onValue: (value: string) => void;
}

interface LineProps extends ValueProps {
  readonly label: string;
  readonly inputMode?: 'decimal' | 'numeric';
  readonly pattern?: string;
  readonly required?: boolean;
}

export function LineField({ label, hint, onValue, ...more }: LineProps) {
  return (
    <Field label={label} hint={hint}>
      {(id, hintId) => (
        <input
          class="input"
          id={id}
          aria-describedby={hintId}
          {...more}
          onInput={(event) => onValue(event.currentTarget.value)}
        />
      )}
    </Field>
  );
}

interface TextProps extends ValueProps {
  readonly label: string;
  readonly rows: number;
  readonly look?: 'mono';
  readonly required?: boolean;
  readonly placeholder?: string;
}

export function TextField({ label, hint, look, onValue, ...more }: TextProps) {
  return (
    <Field label={label} hint={hint}>
      {(id, hintId) => (
        <textarea
          class={look ? `input ${look}` : 'input'}
          id={id}
          aria-describedby={hintId}
          {...more}
          onInput={(event) => onValue(event.currentTarget.value)}
        />
      )}
    </Field>
  );
}

export const BudgetField = (props: ValueProps) => (
  <LineField label="Budget in $" inputMode="decimal" pattern={MONEY} {...props} />
);

export const VariablesField = (props: Omit<ValueProps, 'hint'>) => (
  <TextField label="Variables" hint="One per line: name=value" look="mono" rows={1} {...props} />
);

const MONEY = String.raw`\s*\d+([.,]\d+)?\s*`;

interface CheckProps {
  readonly isChecked: boolean;
  readonly onCheck: (isChecked: boolean) => void;
  readonly children: ComponentChildren;
}

export function Check({ isChecked, onCheck, children }: CheckProps) {
  return (
    <label class="check">
      <input
        type="checkbox"
        checked={isChecked}
        onChange={(event) => onCheck(event.currentTarget.checked)}
      />
      <span>{children}</span>
    </label>
  );
}

interface SearchProps {
  readonly id?: string;
  readonly placeholder: string;
  readonly label: string;
  readonly words: string;
  readonly onWords: (words: string) => void;
}

export function Search({ id, placeholder, label, words, onWords }: SearchProps) {
  return (
    <div class="search">
      <Icon name="search" />
      <input
        class="input"
        type="search"
        id={id}
        placeholder={placeholder}
        aria-label={label}
        value={words}
        onInput={(event) => onWords(event.currentTarget.value)}
      />
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

interface CostConsentProps {
  readonly trouble: Trouble | undefined;
  readonly isAgreed: boolean;
  readonly onAgree: (isAgreed: boolean) => void;
}

/** Appears when a start was refused, because it could cost more than `confirm_above`. */
export function CostConsent({ trouble, isAgreed, onAgree }: CostConsentProps) {
  if (!isAgreed && trouble?.code !== 'costly-start') return null;
  return (
    <Check isChecked={isAgreed} onCheck={onAgree}>
      Start it all the same{' '}
      <span class="faint small">It could cost more than your configuration allows.</span>
    </Check>
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
