import { corsHeaders } from './cors.ts';

/** Headers of every answer: what a caller put into an answer must not become a script by its look. */
export const headersOfEveryAnswer: Readonly<Record<string, string>> = {
  ...corsHeaders,
  'x-content-type-options': 'nosniff',
};
