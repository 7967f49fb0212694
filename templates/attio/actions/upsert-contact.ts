import { createAction } from 'svc';
import { z } from 'zod';

const action = createAction({
  description:
    'Changes the person with an address, or creates one. A phone number replaces all that the person has',
  version: '1.0.1',
  scopes: ['record_permission:read-write', 'object_configuration:read'],
  input: z.object({
    email: z.email(),
    first_name: z.string(),
    last_name: z.string(),
    phone: z.string().min(1).optional(),
    job_title: z.string().min(1).optional(),
  }),
  output: z.object({ id: z.string(), url: z.string() }),

  exec: async (svc, input) => {
    const { email, first_name: first, last_name: last, phone, job_title: jobTitle } = input;
    const { data } = await svc.put<{ data: { id: { record_id: string }; web_url: string } }>({
      endpoint: '/v2/objects/people/records',
      params: { matching_attribute: 'email_addresses' },
      data: {
        data: {
          values: {
            email_addresses: [{ email_address: email }],
            name: [{ first_name: first, last_name: last, full_name: `${first} ${last}`.trim() }],
            phone_numbers:
              phone === undefined
                ? undefined
                : [{ original_phone_number: phone, country_code: null }],
            job_title: jobTitle === undefined ? undefined : [{ value: jobTitle }],
          },
        },
      },
      retries: 3,
    });
    return { id: data.data.id.record_id, url: data.data.web_url };
  },
});

export default action;
