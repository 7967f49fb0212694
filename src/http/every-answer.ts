import { corsHeaders } from './cors.ts';

/** Headers of every response: browsers must not interpret a caller's data as a script. */
export const headersOfEveryAnswer: Readonly<Record<string, string>> = {
  ...corsHeaders,
  'x-content-type-options': 'nosniff',
};
