/** In the head of each page, before anything is painted. */
import { applyTheme, prefersDark } from '#console/shell/theme-choice.ts';

applyTheme();
prefersDark.addEventListener('change', () => applyTheme());
