import { createAction } from 'svc';
import { z } from 'zod';
import { Incident, incidentOf, type PagerDutyApiIncident } from '../incident.js';

interface Refusal {
  response?: {
    status?: number;
    data?: { error?: { code?: number; message?: string; errors?: string[] } };
  };
}

const badRequest = 400;
/** Also of a key that an open incident has. */
const wrongArguments = 2002;

const action = createAction({
  description: 'Triggers an incident of a service',
  version: '1.0.1',
  scopes: ['incidents.read', 'incidents.write'],
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
    // A repeated attempt triggers no second incident.
    const incidentKey = input.incident_key ?? crypto.randomUUID();
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
            incident_key: incidentKey,
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
      if (data?.error?.code === wrongArguments && input.incident_key === undefined) {
        // An earlier attempt may have triggered it, although its response was lost.
        const { data: found } = await svc.get<{ incidents: PagerDutyApiIncident[] }>({
          endpoint: '/incidents',
          params: { incident_key: incidentKey },
          retries: 3,
        });
        const [triggered] = found.incidents;
        if (triggered !== undefined) return incidentOf(triggered);
      }
      const { message = 'PagerDuty refuses the incident', errors = [] } = data?.error ?? {};
      throw new svc.ActionError({
        type: 'incident_refused',
        message: [message, ...errors].join(': '),
      });
    }
  },
});

export default action;
