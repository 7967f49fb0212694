import { createAction } from 'svc';
import { z } from 'zod';
import { dataOf, endpoint } from '../graphql.js';

const mutation =
  'mutation CreateCustomer($input: CustomerInput!) { customerCreate(input: $input) { customer { id } userErrors { field message } } }';

interface Creation {
  customerCreate: {
    customer: { id: string } | null;
    userErrors: { field: string[] | null; message: string }[];
  };
}

const action = createAction({
  description: 'Creates a customer',
  version: '1.0.0',
  scopes: ['write_customers'],
  input: z.object({
    email: z.email(),
    first_name: z.string().optional(),
    last_name: z.string().optional(),
    /** With the code of the country, such as +16465551234. */
    phone: z.string().optional(),
  }),
  output: z.object({ id: z.string() }),

  exec: async (svc, input) => {
    const { data } = await svc.post<{ data?: Creation; errors?: { message: string }[] }>({
      endpoint,
      data: {
        query: mutation,
        variables: {
          input: {
            email: input.email,
            firstName: input.first_name,
            lastName: input.last_name,
            phone: input.phone,
          },
        },
      },
      retries: 3,
    });
    const { customer, userErrors } = dataOf(data).customerCreate;
    if (customer !== null) return { id: customer.id };
    const message = userErrors.map((problem) => problem.message).join(' ');
    throw new svc.ActionError({ type: 'invalid_customer', message });
  },
});

export default action;
