import type { Page } from 'playwright-core';

export const widths = {
  wide: { width: 1280, height: 900 },
  phone: { width: 390, height: 844 },
} as const;
export const themes = ['light', 'dark'] as const;
export const looks = themes.flatMap((theme) =>
  (['wide', 'phone'] as const).map((width) => [theme, width] as const),
);

/** Wider than the window: a phone would have to be moved sideways. */
export const overflow = (page: Page): Promise<number> =>
  page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
