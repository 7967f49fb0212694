import { createAction } from 'svc';
import { z } from 'zod';

interface Refusal {
  response?: {
    status?: number;
    data?: { Elements?: { ValidationErrors?: { Message: string }[] }[] };
  };
}

const action = createAction({
  description: 'Creates a contact',
  version: '1.0.1',
  scopes: ['accounting.contacts'],
  input: z.object({
    name: z.string().min(1).max(255),
    email: z.email().max(255).optional(),
    first_name: z.string().max(255).optional(),
    last_name: z.string().max(255).optional(),
    tax_number: z.string().max(50).optional(),
  }),
  output: z.object({ id: z.string() }),

  exec: async (svc, input) => {
    const contact = {
      Name: input.name,
      EmailAddress: input.email,
      FirstName: input.first_name,
      LastName: input.last_name,
      TaxNumber: input.tax_number,
    };
    try {
      const { data } = await svc.put<{ Contacts: { ContactID: string }[] }>({
        endpoint: '/api.xro/2.0/Contacts',
        headers: { 'idempotency-key': crypto.randomUUID() },
        data: { Contacts: [contact] },
        retries: 3,
      });
      const [created] = data.Contacts;
      if (created === undefined) throw new Error('Xero returned no contact');
      return { id: created.ContactID };
    } catch (error) {
      const { status, data } = (error as Refusal).response ?? {};
      const problems = data?.Elements?.[0]?.ValidationErrors ?? [];
      if (status !== 400 || problems.length === 0) throw error;
      const message = problems.map((problem) => problem.Message).join(' ');
      throw new svc.ActionError({ type: 'invalid_contact', message });
    }
  },
});

export default action;
