import { createAction } from 'svc';
import { z } from 'zod';
import { Incident, incidentOf, type PagerDutyApiIncident } from '../incident.js';

interface Refusal {
  response?: { status?: number; data?: { error?: { message?: string; errors?: string[] } } };
}

const badRequest = 400;

const action = createAction({
  description: 'Triggers an incident of a service',
  version: '1.0.0',
  scopes: ['incidents.write'],
  input: z.object({
    title: z.string().min(1),
    service_id: z.string().min(1),
    /** Of a user of the account, in whose name it is triggered. */
    requester_email: z.email(),
    urgency: z.enum(['high', 'low']).optional(),
    details: z.string().optional(),
    /** While an incident with this key is open, another one is refused. */
    incident_key: z.string().min(1).optional(),
    /** Default: that of the service. */
    escalation_policy_id: z.string().min(1).optional(),
  }),
  output: Incident,

  exec: async (svc, input) => {
    try {
      const { data } = await svc.post<{ incident: PagerDutyApiIncident }>({
        endpoint: '/incidents',
        headers: { from: input.requester_email },
        data: {
          incident: {
            type: 'incident',
            title: input.title,
            service: { id: input.service_id, type: 'service_reference' },
            urgency: input.urgency,
            body:
              input.details === undefined
                ? undefined
                : { type: 'incident_body', details: input.details },
            incident_key: input.incident_key,
            escalation_policy:
              input.escalation_policy_id === undefined
                ? undefined
                : { id: input.escalation_policy_id, type: 'escalation_policy_reference' },
          },
        },
        retries: 3,
      });
      return incidentOf(data.incident);
    } catch (error) {
      const { status, data } = (error as Refusal).response ?? {};
      if (status !== badRequest) throw error;
      const { message = 'PagerDuty refuses the incident', errors = [] } = data?.error ?? {};
      throw new svc.ActionError({
        type: 'incident_refused',
        message: [message, ...errors].join(': '),
      });
    }
  },
});

export default action;
