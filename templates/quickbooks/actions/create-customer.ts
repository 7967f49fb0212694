import { createAction } from 'svc';
import { z } from 'zod';
import { minorVersion } from '../query.js';

interface Refusal {
  response?: { data?: { Fault?: { Error?: { code: string; Detail?: string }[] } } };
}

const action = createAction({
  description: 'Creates a customer',
  version: '1.1.0',
  scopes: ['com.intuit.quickbooks.accounting'],
  input: z.object({
    /** No customer, supplier or employee has the same. */
    name: z.string().min(1).max(500),
    email: z.email().optional(),
    phone: z.string().optional(),
    first_name: z.string().optional(),
    last_name: z.string().optional(),
    /** QuickBooks creates one customer for a key, however often it is asked. */
    idempotency_key: z.string().min(1).max(50).optional(),
  }),
  output: z.object({ id: z.string() }),

  exec: async (svc, input) => {
    try {
      const { data } = await svc.post<{ Customer: { Id: string } }>({
        endpoint: '/v3/company/${connectionConfig.realmId}/customer',
        params: {
          minorversion: minorVersion,
          requestid: input.idempotency_key ?? crypto.randomUUID(),
        },
        data: {
          DisplayName: input.name,
          GivenName: input.first_name,
          FamilyName: input.last_name,
          PrimaryEmailAddr: input.email === undefined ? undefined : { Address: input.email },
          PrimaryPhone: input.phone === undefined ? undefined : { FreeFormNumber: input.phone },
        },
        retries: 3,
      });
      return { id: data.Customer.Id };
    } catch (error) {
      const problems = (error as Refusal).response?.data?.Fault?.Error ?? [];
      const duplicate = problems.find(({ code }) => code === '6240');
      if (duplicate === undefined) throw error;
      const message = duplicate.Detail ?? 'The name is taken';
      throw new svc.ActionError({ type: 'name_exists', message });
    }
  },
});

export default action;
