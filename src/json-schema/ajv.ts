import { Ajv, type Options } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { functionFormats } from './function-formats.ts';

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
