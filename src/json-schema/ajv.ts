import { Ajv, type Options } from 'ajv';
import { fullFormats } from 'ajv-formats/dist/formats.js';

/** Keywords and formats that a validator does not know are annotations, as JSON Schema has it. */
const lenient: Options = { strict: false, logger: false, formats: fullFormats };

export const draft7 = (options: Options = {}): Ajv => new Ajv({ ...lenient, ...options });
