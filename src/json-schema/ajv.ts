import { Ajv, type Options } from 'ajv';
import { functionFormats } from './function-formats.ts';

/** Keywords and formats that a validator does not know are annotations, as JSON Schema has it. */
const ofFunctions: Options = {
  strict: false,
  logger: false,
  verbose: true,
  // `constructor` is no property of `{}`.
  ownProperties: true,
  formats: functionFormats,
};

/** Validators for schemas of functions; their errors are for `problemsOf`. */
export const draft7 = (options: Options): Ajv => new Ajv({ ...ofFunctions, ...options });
