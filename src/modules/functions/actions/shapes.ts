import { z } from 'zod';
import { anyJson } from '../../../http/responses.ts';
import { jsonObject } from '../../../http/fields.ts';

/** Whatever the action returns. */
export const outputShape = anyJson.meta({ examples: [{ id: 'c-1' }] });

export const queuedShape = z
  .strictObject({ id: z.uuid(), statusUrl: z.string() })
  .meta({ id: 'QueuedAction' });

/** Of an action that ended with an ActionError (docs/reference/errors.md#other-bodies). */
export const actionFailureShape = z
  .strictObject({ error_type: z.literal('action_script_failure'), payload: jsonObject })
  .meta({ id: 'ActionFailure' });
