/**
 * Opens links of the page in new tabs with the token of this one. A browser copies the session storage
 * only to tabs that a script opens. A link itself never has the token.
 */
export function openOwnTabs(): void {
  for (const kind of ['click', 'auxclick'] as const)
    document.addEventListener(kind, (event) => {
      const link = event.target instanceof Element ? event.target.closest(OWN_LINKS) : null;
      if (!(link instanceof HTMLAnchorElement) || !isForNewTab(event)) return;
      event.preventDefault();
      open(link.href);
    });
}

/** Places of this project, and of others. */
const OWN_LINKS = 'a[href^="#"], a[href^="/?project="]';

function isForNewTab({ button, ctrlKey, metaKey, shiftKey }: MouseEvent): boolean {
  return button === MIDDLE || (button === LEFT && (ctrlKey || metaKey || shiftKey));
}

const [LEFT, MIDDLE] = [0, 1];
