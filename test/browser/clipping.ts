import type { Page } from 'playwright-core';

/**
 * What of the page is cut off: the page or one of its parts has to be moved sideways, a text ends without an ellipsis and
 * a title with the whole text, or a row of a list has its state or time out of view. Code and results of queries may be moved
 * sideways.
 */
export const clippedIn = (page: Page): Promise<readonly string[]> => page.evaluate(findClipped);

/** Runs in the page. */
function findClipped(): readonly string[] {
  const found: string[] = [];
  const width = document.documentElement.clientWidth;
  const pageWidth = document.documentElement.scrollWidth;
  if (pageWidth > width) found.push(`the page is ${pageWidth} px wide, its window ${width}`);
  const nameOf = (element: Element): string => {
    const text = element.textContent.replaceAll(/\s+/g, ' ').trim();
    return `${element.tagName.toLowerCase()}.${element.classList.value} "${text.slice(0, 60)}"`;
  };
  const isIn = ({ left, right, width: length }: DOMRect): boolean =>
    length > 0 && left >= 0 && right <= width + 0.5;
  const hasTitle = (element: Element): boolean => {
    const text = element.textContent.trim();
    const title = element.closest('[title]')?.getAttribute('title') ?? '';
    return title.replaceAll(/\s+/g, ' ').includes(text.replaceAll(/\s+/g, ' '));
  };

  /** Only for those who do not see the page. */
  const isHidden = (element: Element | null): boolean =>
    element !== null &&
    (getComputedStyle(element).clipPath !== 'none' || isHidden(element.parentElement));

  for (const element of document.querySelectorAll<HTMLElement>('#content *, .topbar, .topbar *')) {
    const style = getComputedStyle(element);
    const isVisible = element.checkVisibility({ checkVisibilityCSS: true });
    if (
      !isVisible ||
      element.closest('.code, .sql-result, svg, .chart') !== null ||
      isHidden(element)
    )
      continue;
    if (element.scrollWidth > element.clientWidth + 1 && style.overflowX !== 'visible') {
      if (element.matches('input, select, textarea')) continue;
      const isEllipsis = style.textOverflow === 'ellipsis' && hasTitle(element);
      if (!isEllipsis) found.push(`cut off: ${nameOf(element)}`);
    }
    const hasText = [...element.childNodes].some(
      ({ nodeType, textContent }) => nodeType === Node.TEXT_NODE && textContent?.trim() !== '',
    );
    if (hasText && !isIn(element.getBoundingClientRect()))
      found.push(`out of the window: ${nameOf(element)}`);
  }
  for (const row of document.querySelectorAll('.table tbody tr')) {
    for (const [kind, selector] of [
      ['state', '.badge'],
      ['time', 'time'],
    ] as const) {
      const shown = [...row.querySelectorAll(selector)];
      if (shown.length > 0 && !shown.some((one) => isIn(one.getBoundingClientRect())))
        found.push(`the ${kind} is out of view: ${nameOf(row)}`);
    }
  }
  return [...new Set(found)];
}
