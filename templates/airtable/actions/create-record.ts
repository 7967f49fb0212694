import { createAction } from 'svc';
import { z } from 'zod';
import { codeOf, type Refusal } from '../record.js';

const invalid = 422;
/** Of what is not there, or not to be written by the connection; the last one is a status of 404. */
const unreachable = ['INVALID_PERMISSIONS_OR_MODEL_NOT_FOUND', 'INVALID_PERMISSIONS', 'NOT_FOUND'];

const action = createAction({
  description: 'Creates a record in a table',
  version: '1.0.1',
  scopes: ['data.records:write'],
  input: z.object({
    base_id: z.string().min(1),
    table_id: z.string().min(1),
    /** By the names or ids of the fields. */
    fields: z.record(z.string(), z.unknown()),
    /** Whether Airtable converts texts to the types of the fields. */
    converts_texts: z.boolean().optional(),
  }),
  output: z.object({ id: z.string(), created_at: z.string() }),

  exec: async (svc, input) => {
    try {
      const { data } = await svc.post<{ id: string; createdTime: string }>({
        endpoint: `/v0/${input.base_id}/${input.table_id}`,
        data: { fields: input.fields, typecast: input.converts_texts },
        retries: 3,
      });
      return { id: data.id, created_at: data.createdTime };
    } catch (error) {
      if (unreachable.includes(codeOf(error) ?? '')) {
        const message = `There is no table ${input.table_id}, or the connection may not write to it`;
        throw new svc.ActionError({ type: 'table_not_found', message });
      }
      const { status, data } = (error as Refusal).response ?? {};
      if (status !== invalid) throw error;
      const refused = typeof data?.error === 'string' ? data.error : data?.error?.message;
      const message = refused ?? 'Airtable refuses the fields';
      throw new svc.ActionError({ type: 'invalid_fields', message });
    }
  },
});

export default action;
