import type { Answer } from '#client/index.ts';

/** A run as its page shows it. */
export type RunDetail = Answer<'GET /runs/{id}'>['data'];
