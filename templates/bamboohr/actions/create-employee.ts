import { createAction } from 'svc';
import { z } from 'zod';

interface Refusal {
  response?: { status?: number; headers?: Record<string, string> };
}

const conflict = 409;

const action = createAction({
  description: 'Creates an employee',
  version: '1.1.1',
  input: z.object({
    first_name: z.string().min(1),
    last_name: z.string().min(1),
    work_email: z.email().optional(),
    job_title: z.string().optional(),
    department: z.string().optional(),
    /** ISO 8601 date. */
    start_date: z.iso.date().optional(),
  }),
  output: z.object({ id: z.string() }),

  exec: async (svc, input) => {
    try {
      const { headers } = await svc.post({
        endpoint: '/v1/employees',
        data: {
          firstName: input.first_name,
          lastName: input.last_name,
          workEmail: input.work_email,
          jobTitle: input.job_title,
          department: input.department,
          hireDate: input.start_date,
        },
        retries: 3,
      });
      // The response has no body: the id is at the end of the address of the employee.
      const address = String(headers['location'] ?? '');
      const segment = address.split('/').filter(Boolean).at(-1) ?? '';
      const id = /\d+/.exec(segment)?.[0];
      if (id !== undefined) return { id };
      const message = 'The employee is created, but BambooHR does not name the id';
      throw new svc.ActionError({ type: 'id_unknown', message });
    } catch (error) {
      const { status, headers } = (error as Refusal).response ?? {};
      // Of a value that BambooHR does not take, such as an address that another employee has.
      if (status !== conflict) throw error;
      const message = headers?.['x-bamboohr-error-message'] ?? 'BambooHR refuses a value';
      throw new svc.ActionError({ type: 'employee_refused', message });
    }
  },
});

export default action;
