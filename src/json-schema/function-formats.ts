import type { Format } from 'ajv';
import { fullFormats } from 'ajv-formats/dist/formats.js';

const isUrl = (value: string): boolean => URL.canParse(value);

/**
 * Formats as zod means them, from which the schemas of functions are made: times may lack an offset and a `uri` is what
 * `new URL` takes. Of an address and a duration the pattern beside the format says more.
 */
export const functionFormats: Readonly<Record<string, Format>> = {
  ...fullFormats,
  'date-time': fullFormats['iso-date-time'],
  time: fullFormats['iso-time'],
  duration: true,
  email: /^[^\s@]+@[^\s@]+$/,
  uri: isUrl,
  url: isUrl,
  'uri-reference': (value: string) => URL.canParse(value, 'http://localhost'),
};
