import { Ajv, type Options, type Format } from 'ajv';
import { fullFormats } from 'ajv-formats/dist/formats.js';
import { Ajv2020 } from 'ajv/dist/2020.js';

const isUrl = (value: string): boolean => URL.canParse(value);

/**
 * Formats as zod means them, from which the schemas of functions are made: times may lack an offset and a `uri` is what
 * `new URL` takes. Of an address and a duration the pattern beside the format says more.
 */
const functionFormats: Readonly<Record<string, Format>> = {
  ...fullFormats,
  'date-time': fullFormats['iso-date-time'],
  time: fullFormats['iso-time'],
  duration: true,
  email: /^[^\s@]+@[^\s@]+$/,
  uri: isUrl,
  url: isUrl,
  'uri-reference': (value: string) => URL.canParse(value, 'http://localhost'),
};

/** Keywords and formats that a validator does not know are annotations, as JSON Schema has it. */
const ofZod: Options = {
  strict: false,
  logger: false,
  verbose: true,
  // `constructor` is no property of `{}`.
  ownProperties: true,
  formats: functionFormats,
};

/** Validators for schemas of functions; their errors are for `problemsOf`. */
export const draft7 = (options: Options): Ajv => new Ajv({ ...ofZod, ...options });

/** Validators for schemas that `z.toJSONSchema` made here; their errors are for `problemsOf`. */
export const draft2020 = (options: Options): Ajv2020 => new Ajv2020({ ...ofZod, ...options });
