import { Ajv, type Options } from 'ajv';
import { fullFormats } from 'ajv-formats/dist/formats.js';
import { Ajv2020 } from 'ajv/dist/2020.js';

/** Validators with every format of JSON Schema; keywords that they do not know are annotations. */
const lenient: Options = { strict: false, formats: fullFormats };

export const draft7 = (options: Options = {}): Ajv => new Ajv({ ...lenient, ...options });
export const draft2020 = (options: Options = {}): Ajv2020 =>
  new Ajv2020({ ...lenient, ...options });
