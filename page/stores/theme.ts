import { useLayoutEffect } from 'preact/hooks';

const THEMES = ['system', 'light', 'dark'] as const;
export type Theme = (typeof THEMES)[number];

export function storedTheme(): Theme {
  const stored = readStored();
  return THEMES.find((theme) => theme === stored) ?? 'system';
}

export const nextTheme = (theme: Theme): Theme =>
  THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length] ?? 'system';

export function useTheme(theme: Theme): void {
  useLayoutEffect(() => {
    if (theme === 'system') delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = theme;
    document.dispatchEvent(new Event(THEME_CHANGED));
    try {
      localStorage.setItem(KEY, theme);
    } catch {
      // A browser may forbid it. Then the choice lasts as long as the page.
    }
  }, [theme]);
}

/** What draws on a canvas draws again. */
export const THEME_CHANGED = 'themechanged';
const KEY = 'raymond-theme';

function readStored(): string | null {
  try {
    return localStorage.getItem(KEY);
  } catch {
    return null;
  }
}
