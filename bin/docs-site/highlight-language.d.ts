import type { Language } from './highlight.d.ts';

/** A grammar of highlight.js. */
declare const language: () => Language;
export default language;
